// A restore that fails on its way takes an older version only if the newest is damaged. It never says "it does not fit"
// about regions that were touched.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include "client/ranks_testing.hpp"
#include "os/hooks.hpp"
#include "support/installed_hooks.hpp"
#include "support/sanitized.hpp"

namespace perdure::client {
namespace {

namespace fs = std::filesystem;

/// Makes one system call fail, the n-th of the thread that asks for it; or all preads of its slots. No version gets to
/// the store while that is full.
class FailingCalls : public os::Hooks {
 public:
  int before(const os::Operation& operation) override {
    const auto version = operation.path.find("/store/app/");
    const bool flush = version != std::string::npos && std::isdigit(operation.path[version + 11]) != 0;
    if (full && flush && std::string_view(operation.call) == "pwrite") return ENOSPC;
    const bool slot = operation.path.find("/slot-") != std::string::npos;
    if (no_slots && slot && std::string_view(operation.call) == "pread") return EIO;
    if (left == 0 || --left != 0) return 0;
    const std::lock_guard lock(mutex_);
    failed_ = std::string(operation.call) + " of " + operation.path;
    if (error == 0) throw std::bad_alloc();
    return error;
  }
  void after(const os::Operation& operation, int error_number) override {
    const bool slot = operation.path.find("/slot-") != std::string::npos && std::string_view(operation.call) == "pread";
    if (!slot || error_number != 0 || bad_reads == 0 || operation.target.empty()) return;
    --bad_reads;
    operation.target[0] ^= std::byte{1};
  }
  std::string failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
  }
  std::atomic<bool> full = false;
  std::atomic<int> error = EIO;  ///< 0: memory is refused
  static thread_local std::uint64_t left;
  static thread_local bool no_slots;
  static thread_local unsigned bad_reads;  ///< reads of slots, so many, that return other data than was written

 private:
  mutable std::mutex mutex_;
  std::string failed_;
};
thread_local std::uint64_t FailingCalls::left = 0;
thread_local bool FailingCalls::no_slots = false;
thread_local unsigned FailingCalls::bad_reads = 0;

class RestoreFailures : public JobOfThreads {
 protected:
  static constexpr std::size_t kWords = 25'000;  // four chunks, the last one shorter
  RestoreFailures() {
    ranks_ = 2;
    per_node_ = 1;
    more_ = "tier.order=file;engine.drain_timeout=0.05;retention.keep_last=9";
  }
  void on_sessions(const std::function<void(Session&, int rank, const perdure_communicator&)>& work) {
    test_support::ThreadGroup group(ranks_);
    group.run([&](const perdure_communicator& c) {
      auto session = Session::open(comm::make_from_c(c).value(), options(more_).c_str());
      ASSERT_TRUE(session) << session.error().text();
      work(**session, c.rank, c);
    });
  }
  static void protect(Session& session, std::vector<std::uint64_t>& words) {
    ASSERT_TRUE(session.protect({1, reinterpret_cast<std::byte*>(words.data()), 8, words.size()}));
  }
  static std::vector<std::uint64_t> content(int rank, std::uint64_t version, std::size_t words = kWords) {
    std::vector<std::uint64_t> all(words);
    for (std::size_t i = 0; i < words; ++i)
      all[i] = version << 48 | static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint64_t>(i);
    return all;
  }
  /// Writes versions 1, of so many words, and 2; the store gets them only if `stored`.
  void write_two(bool stored, std::size_t words_of_first = kWords) {
    calls_.full = !stored;
    on_sessions([&](Session& session, int rank, const perdure_communicator&) {
      auto first = content(rank, 1, words_of_first), second = content(rank, 2);
      protect(session, first);
      ASSERT_TRUE(session.checkpoint("app", 1));
      protect(session, second);
      ASSERT_TRUE(session.checkpoint("app", 2));
      if (!stored) return;  // as if it had died
      ASSERT_TRUE(session.wait("app", 2, PERDURE_LEVEL_STORE, -1));
      ASSERT_TRUE(session.close());
    });
  }
  /// Changes a byte of the chunk that begins with this word, in its slot.
  void damage_chunk(std::uint64_t first_word) const {
    unsigned found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() + "/file")) {
      if (!entry.path().filename().string().starts_with("slot-")) continue;
      std::uint64_t word = 0;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.read(reinterpret_cast<char*>(&word), sizeof word);
      if (!file || word != first_word) continue;
      file.seekp(1000);
      file.put('\x77');
      ++found;
    }
    ASSERT_EQ(found, 1U);
  }
  static base::ErrorCode code(const base::Status& status) { return status ? PERDURE_OK : status.error().code; }

  FailingCalls calls_;
  const test_support::InstalledHooks installed_{calls_};
};

struct Passing {
  const char* name;
  bool stored;  ///< otherwise in the tiers only
  int error;
};
void PrintTo(const Passing& passing, std::ostream* out) { *out << passing.name; }
class PassingFailures : public RestoreFailures, public ::testing::WithParamInterface<Passing> {};
INSTANTIATE_TEST_SUITE_P(Every, PassingFailures,
                         ::testing::Values(Passing{"OfADeviceUnderTheTiers", false, EIO},
                                           Passing{"OfMemoryAtTheTiers", false, 0},
                                           Passing{"OfADeviceUnderTheStore", true, EIO},
                                           Passing{"OfMemoryAtTheStore", true, 0}),
                         [](const auto& param) { return std::string(param.param.name); });

// Every system call of a rank in a restore fails once, one after the other.
TEST_P(PassingFailures, MakeNoRankTakeAnOlderVersionAndAreNeverToldAsDamage) {
  write_two(GetParam().stored);
  calls_.error = GetParam().error;
  std::atomic<std::uint64_t> places = 0;
  on_sessions([&](Session& session, int rank, const perdure_communicator& c) {
    std::vector<std::uint64_t> words(kWords);
    protect(session, words);
    for (int failing = 0; failing < 2; ++failing) {
      bool more = true;
      for (std::uint64_t place = 1; more; place += test_support::unless_sanitized(1, 3)) {
        std::fill(words.begin(), words.end(), 0);
        FailingCalls::left = rank == failing ? place : 0;
        const auto status = base::caught("restore", [&] { return session.restore("app", -1, {}); });
        std::uint64_t came = rank == failing && FailingCalls::left == 0 ? 1 : 0;
        FailingCalls::left = 0;
        ASSERT_EQ(c.allreduce(c.context, &came, 1, 1), 0);
        more = came == 1;
        places += came;
        const auto told = code(status);
        const std::string where = more ? calls_.failed() : "nowhere";
        EXPECT_TRUE(told != PERDURE_CORRUPT && told != PERDURE_NOT_FOUND && told != PERDURE_INCOMPLETE &&
                    told != PERDURE_MISMATCH)
            << where << ": " << status.error().text();
        if (status) {
          EXPECT_EQ(words, content(rank, 2)) << where;
        }
        const auto after = session.restore("app", -1, {});
        ASSERT_TRUE(after) << where << ": " << after.error().text();
        ASSERT_EQ(words, content(rank, 2)) << where;
      }
    }
  });
  EXPECT_GT(places, 20U);
}

TEST_F(RestoreFailures, OfADeviceThatLastAreToldAsSuchAndTakeNoOlderVersion) {
  write_two(false);
  on_sessions([&](Session& session, int rank, const perdure_communicator&) {
    std::vector<std::uint64_t> words(kWords);
    protect(session, words);
    FailingCalls::no_slots = rank == 1;
    const auto failed = session.restore("app", -1, {});
    EXPECT_EQ(code(failed), rank == 1 ? PERDURE_IO : PERDURE_PEER_FAILED) << failed.error().text();
    EXPECT_NE(failed.error().text().find("app version 2, which is not known to be damaged"), std::string::npos)
        << failed.error().text();
    EXPECT_NE(failed.error().remedy.find("an older version by its number"), std::string::npos);
    FailingCalls::no_slots = false;
    const auto passed = session.restore("app", -1, {});
    ASSERT_TRUE(passed) << passed.error().text();
    EXPECT_EQ(words, content(rank, 2));
  });
}

// One chunk of a slot is damaged, and the other rank's device fails for good: that failure says nothing of the version.
TEST_F(RestoreFailures, OfADeviceDoNotHideDamageOfAnotherRank) {
  write_two(false);
  damage_chunk(content(0, 2)[0]);
  on_sessions([&](Session& session, int rank, const perdure_communicator&) {
    std::vector<std::uint64_t> words(kWords);
    protect(session, words);
    FailingCalls::left = rank == 1 ? 1 : 0;
    const auto restored = session.restore("app", -1, {});
    FailingCalls::left = 0;
    if (restored) {
      EXPECT_EQ(words, content(rank, 1));
    }
    ASSERT_TRUE(session.restore("app", -1, {}));
    EXPECT_EQ(words, content(rank, 1)) << "version 2 is damaged";
  });
}

// Each time the version is rebuilt from another node's redundancy, and found damaged again.
TEST_F(RestoreFailures, OfAVersionThatStaysDamagedHoweverOftenItIsRebuiltEndWithAnOlderOne) {
  more_ += ";redundancy.scheme=partner";
  calls_.full = true;
  on_sessions([&](Session& session, int rank, const perdure_communicator&) {
    for (const std::uint64_t version : {1U, 2U}) {
      auto words = content(rank, version);
      protect(session, words);
      ASSERT_TRUE(session.checkpoint("app", static_cast<std::int64_t>(version)));
      ASSERT_TRUE(session.wait("app", static_cast<std::int64_t>(version), PERDURE_LEVEL_NODE, 60));
    }
    std::vector<std::uint64_t> words(kWords);
    protect(session, words);
    FailingCalls::bad_reads = rank == 1 ? 3 : 0;
    const auto restored = session.restore("app", -1, {});
    EXPECT_EQ(FailingCalls::bad_reads, 0U);
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_EQ(words, content(rank, 1));
  });
}

TEST_F(RestoreFailures, SayThatItDoesNotFitOnlyOfRegionsThatNobodyTouched) {
  write_two(false, kWords / 2);
  damage_chunk(content(1, 2)[2 * kChunk / 8]);
  on_sessions([&](Session& session, int rank, const perdure_communicator&) {
    std::vector<std::uint64_t> words(kWords);
    protect(session, words);
    const auto failed = session.restore("app", -1, {});
    EXPECT_EQ(code(failed), rank == 1 ? PERDURE_CORRUPT : PERDURE_PEER_FAILED);
    EXPECT_NE(failed.error().text().find("an older version does not fit"), std::string::npos) << failed.error().text();
    std::fill(words.begin(), words.end(), 7);
    EXPECT_EQ(code(session.restore("app", -1, {})), PERDURE_MISMATCH) << "the damaged one is set aside by now";
    EXPECT_EQ(words, std::vector<std::uint64_t>(kWords, 7)) << "nothing was touched";
    words.resize(kWords / 2);
    protect(session, words);
    ASSERT_TRUE(session.restore("app", -1, {}));
    EXPECT_EQ(words, content(rank, 1, kWords / 2));
  });
}

}  // namespace
}  // namespace perdure::client
