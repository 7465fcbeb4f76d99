// Tests handles that are closed without their owner, and processes that are to open for all ranks. tests/goodbye has
// programs that end.
#include "capi/goodbye.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "os/fault_rules.hpp"
#include "reader/inventory.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"
#include "support/thread_group.hpp"

namespace perdure::capi {
namespace {

using testing::HasSubstr;

class HandleOfATest : public testing::Test {
 protected:
  perdure_t* opened(const std::string& more = {}) {
    const std::string options = "store.path=" + directory_.path() + "/store;node.path=" + directory_.path() +
                                "/node;tier.file.path=" + directory_.path() + "/file;chunk_bytes=128KiB;" + more;
    perdure_t* handle = nullptr;
    char message[1024] = "";
    EXPECT_EQ(perdure_open(options.c_str(), &handle, message, sizeof message), PERDURE_OK) << message;
    EXPECT_EQ(perdure_protect(handle, 1, &word_, sizeof word_, 1), PERDURE_OK);
    EXPECT_EQ(perdure_checkpoint(handle, "a", 7), PERDURE_OK) << perdure_error_text(handle);
    return handle;
  }
  std::map<std::string, std::uint64_t> stored() const {
    const auto store = store::make_store(directory_ / "store").value();
    return reader::newest_complete(*store).value();
  }
  test_support::TemporaryDirectory directory_;
  std::uint64_t word_ = 42;
};

class ClosedEarly : public HandleOfATest {};

TEST_F(ClosedEarly, IsStoredAndItsOwnerHearsThatItIsClosed) {
  perdure_t* handle = opened();
  EXPECT_EQ(perdure_close_early(handle, "the test"), PERDURE_OK);
  EXPECT_EQ(stored().at("a"), 7U);
  EXPECT_EQ(perdure_checkpoint(handle, "a", 8), PERDURE_CLOSED);
  EXPECT_STREQ(perdure_error_text(handle), "handle: the test closed it");
  EXPECT_EQ(perdure_close_early(handle, "somebody else"), PERDURE_CLOSED) << "once is enough";
  EXPECT_EQ(perdure_close(&handle), PERDURE_CLOSED);
  EXPECT_EQ(handle, nullptr);
  EXPECT_STREQ(perdure_error_text(nullptr), "handle: the test closed it");
  EXPECT_EQ(perdure_close_early(nullptr, "the test"), PERDURE_INVALID_ARGUMENT);
}

TEST_F(ClosedEarly, WithSomethingLeftIsToldToItsOwnerAndWhereThatIsWanted) {
  os::FaultRules full(*os::parse_fault_rules("pwrite:/store/a/:ENOSPC"));
  test_support::InstalledHooks installed(full);
  perdure_t* handle = opened("messages=stderr;engine.drain_timeout=0.01");
  testing::internal::CaptureStderr();
  EXPECT_EQ(perdure_close_early(handle, "the test"), PERDURE_UNAVAILABLE);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("perdure: the test: " + (directory_ / "store") + ": 1"));
  EXPECT_EQ(perdure_checkpoint(handle, "a", 8), PERDURE_CLOSED);
  EXPECT_EQ(perdure_close(&handle), PERDURE_UNAVAILABLE);
  EXPECT_THAT(perdure_error_text(nullptr), HasSubstr("handle: the test closed it: " + (directory_ / "store") + ": 1"));
  EXPECT_EQ(perdure_error_retryable(nullptr), 1);
}

class CloseOfSomeRanks : public HandleOfATest {};

// One rank is in MPI_Finalize already, and the others are in another call.
TEST_F(CloseOfSomeRanks, FailsAndStoresWhatTheirNodeHas) {
  const std::string at = directory_.path();
  const std::string options = "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                              "/file;chunk_bytes=128KiB;flush.max_bandwidth=1MB";
  test_support::ThreadGroup group(2);
  group.run([&](const perdure_communicator& c) {
    std::vector<double> field(64 * 1024, c.rank);
    perdure_t* handle = nullptr;
    char message[1024] = "";
    ASSERT_EQ(perdure_open_communicator(&c, options.c_str(), &handle, message, sizeof message), PERDURE_OK) << message;
    EXPECT_EQ(perdure_protect(handle, 1, field.data(), sizeof(double), field.size()), PERDURE_OK);
    EXPECT_EQ(perdure_checkpoint(handle, "a", 7), PERDURE_OK) << perdure_error_text(handle);
    EXPECT_EQ(perdure_wait(handle, "a", 7, PERDURE_LEVEL_PROCESS, 60), PERDURE_OK) << perdure_error_text(handle);
    int any = 0;
    if (c.rank == 0) {
      EXPECT_NE(perdure_close(&handle), PERDURE_OK) << "the other rank does not close";
      EXPECT_EQ(stored()["a"], 7U);
    } else {
      EXPECT_NE(perdure_any(handle, 0, &any), PERDURE_OK);
    }
    (void)c.barrier(c.context);
    if (c.rank == 0) return;
    group.break_down();
    EXPECT_NE(perdure_close(&handle), PERDURE_OK) << "there is nobody to close it with";
  });
}

TEST(HandleLocks, SayThatTheirThreadHasThemAndWaitForNoneForEver) {
  Handle handle(1, Group::own);
  const HandleLock mine(handle);
  EXPECT_TRUE(mine.held());
  EXPECT_FALSE(HandleLock(handle, std::chrono::hours(1)).held()) << "this thread would wait for itself";
  std::thread([&] { EXPECT_FALSE(HandleLock(handle, std::chrono::milliseconds(1)).held()); }).join();
  EXPECT_EQ(handle.caller.load(), std::this_thread::get_id());
}

TEST(HandleLocks, AreFreeForTheNextAfterwards) {
  Handle handle(1, Group::own);
  { const HandleLock mine(handle); }
  EXPECT_EQ(handle.caller.load(), std::thread::id());
  std::thread([&] { EXPECT_TRUE(HandleLock(handle, std::chrono::milliseconds(1)).held()); }).join();
  EXPECT_TRUE(HandleLock(handle, std::chrono::milliseconds(1)).held());
}

/// An owner that calls the handle that asks it.
struct CallsAgain {
  perdure_t* handle;
  std::uint64_t word = 5;
  bool calls = false;
  perdure_status got = PERDURE_OK;
  static int locate(void* owner, void** address, std::size_t* count) {
    auto& self = *static_cast<CallsAgain*>(owner);
    perdure_progress progress;
    perdure_t* copy = self.handle;
    if (self.calls) {
      self.got = perdure_get_progress(self.handle, &progress);
      EXPECT_EQ(perdure_close(&copy), PERDURE_BUSY);
      EXPECT_EQ(copy, self.handle) << "it is open";
      EXPECT_THAT(perdure_error_text(self.handle), HasSubstr("within a call"));
    }
    *address = &self.word;
    *count = 1;
    return 0;
  }
};

class CallWithinACall : public HandleOfATest {};

TEST_F(CallWithinACall, IsBusyAndDoesNotWaitForItself) {
  CallsAgain owner{opened()};
  ASSERT_EQ(perdure_protect(owner.handle, 2, &owner.word, sizeof owner.word, 1), PERDURE_OK);
  ASSERT_EQ(perdure_follow(owner.handle, 2, CallsAgain::locate, &owner), PERDURE_OK);
  owner.calls = true;
  EXPECT_EQ(perdure_checkpoint(owner.handle, "a", 8), PERDURE_OK) << perdure_error_text(owner.handle);
  EXPECT_EQ(owner.got, PERDURE_BUSY);
  owner.calls = false;
  EXPECT_EQ(perdure_close(&owner.handle), PERDURE_OK) << perdure_error_text(nullptr);
}

/// Sets a variable of the environment while it lives.
class Launcher {
 public:
  Launcher() { ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1), ::setenv("OMPI_COMM_WORLD_RANK", "1", 1); }
  ~Launcher() { ::unsetenv("OMPI_COMM_WORLD_SIZE"), ::unsetenv("OMPI_COMM_WORLD_RANK"); }
};

class RankOfALauncher : public HandleOfATest {};

TEST_F(RankOfALauncher, IsToldToOpenForAllRanksUnlessItIsMeantToBeAlone) {
  const Launcher launcher;
  perdure_t* handle = nullptr;
  char message[1024] = "";
  EXPECT_EQ(perdure_open("", &handle, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(handle, nullptr);
  EXPECT_THAT(message, HasSubstr("perdure_open(): this process is rank 1 of 2 (OMPI_COMM_WORLD_SIZE=2)"));
  EXPECT_THAT(message, HasSubstr("perdure_open_mpi()"));
  EXPECT_THAT(message, HasSubstr("PERDURE_RANKS_ALONE"));
  handle = opened("ranks.alone=true");
  EXPECT_EQ(perdure_close(&handle), PERDURE_OK) << perdure_error_text(nullptr);
}

}  // namespace
}  // namespace perdure::capi
