// Tests handles as numbers of a table: a stale one is an error, never a crash. Tests also the C functions' own checks.
#include "capi/handles.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "support/eventually.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::capi {
namespace {

TEST(Handles, AreFoundUntilTheyAreTaken) {
  auto handle = std::make_shared<Handle>(os::process_id(), Group::own);
  perdure_t* key = add_handle(handle);
  EXPECT_NE(key, nullptr);
  EXPECT_EQ(find_handle(key), handle);
  EXPECT_EQ(take_handle(key), handle);
  EXPECT_EQ(find_handle(key), nullptr);
  EXPECT_EQ(take_handle(key), nullptr);
}

TEST(Handles, ANumberIsNeverUsedTwice) {
  std::set<perdure_t*> keys;
  for (int i = 0; i < 100; ++i) {
    perdure_t* key = add_handle(std::make_shared<Handle>(os::process_id(), Group::own));
    EXPECT_TRUE(keys.insert(key).second);
    take_handle(key);
  }
}

TEST(Handles, SurviveThreadsThatAddFindAndTakeAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        auto handle = std::make_shared<Handle>(os::process_id(), Group::own);
        perdure_t* key = add_handle(handle);
        EXPECT_EQ(find_handle(key), handle);
        EXPECT_EQ(take_handle(key), handle);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(CApi, ANullHandleIsAnInvalidArgument) {
  EXPECT_EQ(perdure_protect(nullptr, 1, nullptr, 8, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_checkpoint(nullptr, "a", 1), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_close(nullptr), PERDURE_INVALID_ARGUMENT);
  EXPECT_NE(perdure_error_text(nullptr), nullptr);
  EXPECT_EQ(perdure_error_retryable(nullptr), 0);
}

TEST(CApi, AHandleThatNeverWasIsClosedForEveryCall) {
  auto* stale = reinterpret_cast<perdure_t*>(std::uintptr_t{1} << 40);
  std::int64_t version = 0;
  perdure_level level{};
  perdure_progress progress{};
  perdure_region_size size{};
  char text[8];
  EXPECT_EQ(perdure_protect(stale, 1, nullptr, 8, 0), PERDURE_CLOSED);
  EXPECT_EQ(perdure_unprotect(stale, 1), PERDURE_CLOSED);
  EXPECT_EQ(perdure_checkpoint(stale, "a", 1), PERDURE_CLOSED);
  EXPECT_EQ(perdure_latest(stale, "a", &version), PERDURE_CLOSED);
  EXPECT_EQ(perdure_stored_size(stale, "a", 1, 1, &size), PERDURE_CLOSED);
  EXPECT_EQ(perdure_restore(stale, "a", 1), PERDURE_CLOSED);
  EXPECT_EQ(perdure_restore_regions(stale, "a", 1, nullptr, 0), PERDURE_CLOSED);
  EXPECT_EQ(perdure_wait(stale, "a", 1, PERDURE_LEVEL_STORE, 1), PERDURE_CLOSED);
  EXPECT_EQ(perdure_level_reached(stale, "a", 1, &level), PERDURE_CLOSED);
  EXPECT_EQ(perdure_get_progress(stale, &progress), PERDURE_CLOSED);
  EXPECT_EQ(perdure_next_report(stale, text, sizeof text), PERDURE_CLOSED);
  EXPECT_EQ(perdure_retire(stale, "a", 1), PERDURE_CLOSED);
  int any = 0;
  EXPECT_EQ(perdure_any(stale, 1, &any), PERDURE_CLOSED);
  unsigned reasons = 0;
  EXPECT_EQ(perdure_due(stale, &reasons), PERDURE_CLOSED);
  EXPECT_EQ(perdure_close_early(stale, "a test"), PERDURE_CLOSED);
  EXPECT_EQ(perdure_close(&stale), PERDURE_CLOSED);
}

TEST(CApi, AFailedOpenGivesNoHandleAndAMessageThatFitsTheRoom) {
  auto* handle = reinterpret_cast<perdure_t*>(std::uintptr_t{77});
  char message[24];
  std::memset(message, 'x', sizeof message);
  EXPECT_EQ(perdure_open("no_such_option=1", &handle, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(std::strlen(message), sizeof message - 1);
  EXPECT_EQ(perdure_open("no_such_option=1", &handle, nullptr, 0), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open("", nullptr, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(perdure_open_communicator(nullptr, "", &handle, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  perdure_communicator none{};
  EXPECT_EQ(perdure_open_communicator(&none, "", &handle, message, sizeof message), PERDURE_INVALID_ARGUMENT);
}

TEST(CApi, ASingleProcessCheckpointsRestoresAndClosesTwice) {
  test_support::TemporaryDirectory directory;
  const std::string options = "store.path=" + directory.path() + "/store;node.path=" + directory.path() +
                              "/node;tier.file.path=" + directory.path() + "/file;chunk_bytes=128KiB";
  perdure_t* handle = nullptr;
  char message[512];
  ASSERT_EQ(perdure_open(options.c_str(), &handle, message, sizeof message), PERDURE_OK) << message;
  EXPECT_STREQ(message, "");
  std::uint64_t word = 42;
  ASSERT_EQ(perdure_protect(handle, 1, &word, sizeof word, 1), PERDURE_OK);
  ASSERT_EQ(perdure_checkpoint(handle, "a", 1), PERDURE_OK) << perdure_error_text(handle);
  word = 0;
  EXPECT_EQ(perdure_restore(handle, "a", 2), PERDURE_MISMATCH) << "there is something of the name";
  EXPECT_STREQ(perdure_error_text(handle),
               "a version 2: there is no such version; its only version is 1 (mismatch); ask for a version that is "
               "there, or for PERDURE_LATEST; perdure ls shows them");
  EXPECT_EQ(perdure_restore(handle, "b", 2), PERDURE_NOT_FOUND);
  ASSERT_EQ(perdure_restore(handle, "a", PERDURE_LATEST), PERDURE_OK) << perdure_error_text(handle);
  EXPECT_STREQ(perdure_error_text(handle), "") << "the last call was good";
  EXPECT_EQ(word, 42U);
  perdure_t* copy = handle;
  EXPECT_EQ(perdure_close(&handle), PERDURE_OK);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(perdure_close(&handle), PERDURE_CLOSED);
  EXPECT_EQ(perdure_checkpoint(copy, "a", 2), PERDURE_CLOSED);
  EXPECT_EQ(perdure_close(&copy), PERDURE_CLOSED);
}

TEST(CApi, ACloseThatLeavesSomethingBehindSaysWhatWhyWhereAndWhatToDo) {
  test_support::TemporaryDirectory directory;
  const std::string store = directory.path() + "/store", node = directory.path() + "/node";
  const std::string options = "store.path=" + store + ";node.path=" + node + ";tier.file.path=" + directory.path() +
                              "/file;chunk_bytes=128KiB;engine.drain_timeout=0.01";
  os::FaultRules full(*os::parse_fault_rules("pwrite:/store:ENOSPC"));
  test_support::InstalledHooks installed(full);
  perdure_t* handle = nullptr;
  ASSERT_EQ(perdure_open(options.c_str(), &handle, nullptr, 0), PERDURE_OK);
  std::uint64_t word = 42;
  ASSERT_EQ(perdure_protect(handle, 1, &word, sizeof word, 1), PERDURE_OK);
  ASSERT_EQ(perdure_checkpoint(handle, "a", 7), PERDURE_OK) << perdure_error_text(handle);
  char report[512];
  perdure_status reported = PERDURE_NOT_FOUND;
  EXPECT_TRUE(test_support::eventually("it is reported that the store is full", [&] {
    reported = perdure_next_report(handle, report, sizeof report);
    return reported != PERDURE_NOT_FOUND;
  }));
  EXPECT_EQ(reported, PERDURE_OK);
  ASSERT_EQ(perdure_close(&handle), PERDURE_UNAVAILABLE);
  ASSERT_EQ(handle, nullptr);
  const std::string text = perdure_error_text(nullptr);
  for (const std::string& part :
       {store + ": 1 checkpoint (", std::string("0.01 s"), std::string("No space left on device"), node + "/",
        std::string("start the program again")})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_EQ(perdure_error_retryable(nullptr), 1);
  std::thread([] { EXPECT_STREQ(perdure_error_text(nullptr), "the handle is closed") << "it is the closer's"; }).join();
  EXPECT_EQ(perdure_close(&handle), PERDURE_CLOSED);
  EXPECT_STREQ(perdure_error_text(nullptr), "the handle is closed") << "this was no failure of a close";
}

/// Returns the message of closing a handle whose store is full. Nobody waits for long.
std::string told_by_a_close(const std::string& more) {
  test_support::TemporaryDirectory directory;
  const std::string store = directory.path() + "/store";
  const std::string options = "store.path=" + store + ";node.path=" + directory.path() +
                              "/node;tier.file.path=" + directory.path() + "/file;chunk_bytes=128KiB;" + more;
  os::FaultRules full(*os::parse_fault_rules("pwrite:/store/a/:ENOSPC"));
  test_support::InstalledHooks installed(full);
  perdure_t* handle = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(perdure_open(options.c_str(), &handle, nullptr, 0), PERDURE_OK);
  std::uint64_t word = 42;
  EXPECT_EQ(perdure_protect(handle, 1, &word, sizeof word, 1), PERDURE_OK);
  for (const int version : {7, 9}) EXPECT_EQ(perdure_checkpoint(handle, "a", version), PERDURE_OK);
  perdure_progress progress{};
  EXPECT_EQ(perdure_get_progress(handle, &progress), PERDURE_OK);
  EXPECT_EQ(progress.versions_pending, 2u);
  EXPECT_EQ(perdure_close(&handle), PERDURE_UNAVAILABLE);
  return testing::internal::GetCapturedStderr();
}

TEST(CApi, ACloseThatWaitsSaysForWhatAndWhyAndForHowLongWhereThatIsWanted) {
  const std::string told = told_by_a_close("messages=stderr;engine.drain_timeout=2.5");
  for (const char* part : {"perdure: closing waits for at most 2.5 s (engine.drain_timeout) until the store /",
                           "has what is left: 2 checkpoints (a versions 7 to 9, ", "No space left on device",
                           "perdure: closing has waited 1 s of at most 2.5 s"})
    EXPECT_NE(told.find(part), std::string::npos) << part << " in " << told;
}

TEST(CApi, ACloseThatWaitsPrintsNothingWhereNobodyWantsThat) {
  EXPECT_EQ(told_by_a_close("engine.drain_timeout=1.2"), "");
}

// With the limit one block takes a day; a close that waited for it would not return.
TEST(CApi, ACloseDoesNotWaitForWhatABandwidthLimitAllowsLater) {
  test_support::TemporaryDirectory directory;
  const std::string options = "store.path=" + directory.path() + "/store;node.path=" + directory.path() +
                              "/node;tier.file.path=" + directory.path() +
                              "/file;chunk_bytes=128KiB;engine.drain_timeout=0.2;flush.max_bandwidth=1";
  perdure_t* handle = nullptr;
  ASSERT_EQ(perdure_open(options.c_str(), &handle, nullptr, 0), PERDURE_OK);
  std::vector<std::uint64_t> words(100'000, 42);
  ASSERT_EQ(perdure_protect(handle, 1, words.data(), sizeof(std::uint64_t), words.size()), PERDURE_OK);
  ASSERT_EQ(perdure_checkpoint(handle, "a", 7), PERDURE_OK) << perdure_error_text(handle);
  EXPECT_EQ(perdure_close(&handle), PERDURE_UNAVAILABLE);
  EXPECT_NE(std::string(perdure_error_text(nullptr)).find("a version 7"), std::string::npos);
}

TEST(CApi, EveryStatusHasAName) {
  std::set<std::string> names;
  for (int i = PERDURE_OK; i <= PERDURE_INCOMPLETE; ++i)
    names.insert(perdure_status_name(static_cast<perdure_status>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(PERDURE_INCOMPLETE) + 1);
  EXPECT_NE(perdure_version(), nullptr);
}

}  // namespace
}  // namespace perdure::capi
