// Memory that one rank cannot get, in the middle of a collective call: an error on all ranks, nobody waits for ever,
// and the next call works.
#include "client/ranks_testing.hpp"
#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::client {
namespace {

/// Throws at the system calls of a kind on the thread that says so.
class OutOfMemory : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    if (call == nullptr || std::string_view(operation.call) != call) return 0;
    ++thrown;
    throw std::bad_alloc();
  }
  static thread_local const char* call;
  std::atomic<unsigned> thrown = 0;
};
thread_local const char* OutOfMemory::call = nullptr;

base::ErrorCode code(const base::Status& status) { return status ? PERDURE_OK : status.error().code; }

class Exceptions : public JobOfThreads, public ::testing::WithParamInterface<int> {};
class ExceptionsAtTheStore : public JobOfThreads {};

TEST_P(Exceptions, OfOneRankAreErrorsOfAllAndTheNextCallWorks) {
  const int failing = GetParam();
  OutOfMemory memory;
  const test_support::InstalledHooks installed(memory);
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    auto opened = Session::open(comm::make_from_c(c).value(), options("tier.order=file").c_str());
    ASSERT_TRUE(opened) << opened.error().text();
    Session& session = **opened;
    std::vector<std::uint64_t> words(30'000, 7);
    ASSERT_TRUE(session.protect({1, reinterpret_cast<std::byte*>(words.data()), 8, words.size()}));
    const auto failed = c.rank == failing ? PERDURE_NO_SPACE : PERDURE_PEER_FAILED;

    OutOfMemory::call = c.rank == failing ? "pwrite" : nullptr;
    EXPECT_EQ(code(session.checkpoint("app", 1)), failed) << "rank " << c.rank;
    OutOfMemory::call = nullptr;
    ASSERT_TRUE(session.checkpoint("app", 1)) << "rank " << c.rank;

    OutOfMemory::call = c.rank == failing ? "pread" : nullptr;
    EXPECT_EQ(code(session.restore("app", 1, {})), failed) << "rank " << c.rank;
    OutOfMemory::call = nullptr;
    std::fill(words.begin(), words.end(), 0);
    const auto restored = session.restore("app", -1, {});
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ(words, std::vector<std::uint64_t>(30'000, 7));
    EXPECT_TRUE(session.close());
  });
  EXPECT_GE(memory.thrown, 2U);
}
INSTANTIATE_TEST_SUITE_P(Ranks, Exceptions, ::testing::Values(0, 1, 3));

// The store is looked at by rank 0 alone, before the ranks meet.
TEST_F(ExceptionsAtTheStore, OfRank0AtTheStoreAreErrorsOfAll) {
  ASSERT_TRUE(os::make_directories(directory_ / "store/app"));
  OutOfMemory memory;
  const test_support::InstalledHooks installed(memory);
  test_support::ThreadGroup group(ranks_);
  group.run([&](const perdure_communicator& c) {
    auto opened = Session::open(comm::make_from_c(c).value(), options().c_str());
    ASSERT_TRUE(opened) << opened.error().text();
    Session& session = **opened;
    std::vector<std::uint64_t> words(100, 7);
    ASSERT_TRUE(session.protect({1, reinterpret_cast<std::byte*>(words.data()), 8, words.size()}));
    OutOfMemory::call = c.rank == 0 ? "readdir" : nullptr;
    EXPECT_EQ(code(session.checkpoint("app", 1)), c.rank == 0 ? PERDURE_NO_SPACE : PERDURE_PEER_FAILED);
    EXPECT_EQ(code(session.restore("app", -1, {})), PERDURE_NO_SPACE);
    OutOfMemory::call = nullptr;
    EXPECT_EQ(code(session.restore("app", -1, {})), PERDURE_NOT_FOUND);
    EXPECT_TRUE(session.checkpoint("app", 1));
    EXPECT_TRUE(session.close());
  });
  EXPECT_GE(memory.thrown, 2U);
}

}  // namespace
}  // namespace perdure::client
