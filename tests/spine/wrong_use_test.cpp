// Tests wrong arguments and wrong moments: each gives a defined error and changes nothing, and the handle works
// afterwards.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include "damage.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

class WrongUse : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const { return options_in(directory_.path(), GetParam(), more); }
  // One rank opens a handle, whose use must still be possible after `body`.
  void run_alone(const std::function<int(perdure_t*)>& body) {
    RunOptions run;
    run.ranks = 1;
    const auto outcome = run_ranks(run, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options());
      if (const int failed = body(handle); failed != 0) return failed;
      for (int id = 0; id < 10; ++id) (void)perdure_unprotect(handle, id);  // their memory went with `body`
      State state(0, 1000);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1001, state.words.data(), 8, state.words.size()));
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "still.works", 1));
      const auto before = state.words;
      state.words.assign(state.words.size(), 0);
      const int id = 1001;
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_regions(handle, "still.works", 1, &id, 1));
      REQUIRE(state.words == before);
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
      REQUIRE(handle == nullptr);
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    stop_daemons(directory_.path());
  }
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Modes, WrongUse, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(WrongUse, ProtectingAnIdAgainReplacesAddressAndSize) {
  run_alone([](perdure_t* handle) {
    std::vector<int> small(10, 1), big(50000, 2);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 3, small.data(), sizeof(int), small.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 3, small.data(), sizeof(int), small.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 3, big.data(), sizeof(int), big.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
    perdure_region_size size{};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_stored_size(handle, "app", 1, 3, &size));
    REQUIRE(size.count == 10 && size.element_bytes == sizeof(int));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_stored_size(handle, "app", PERDURE_LATEST, 3, &size));
    REQUIRE(size.count == 50000);
    big.assign(big.size(), 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 2));
    REQUIRE(big == std::vector<int>(50000, 2));
    return 0;
  });
}

TEST_P(WrongUse, RegionsThatCannotBeAreRefused) {
  run_alone([](perdure_t* handle) {
    int number = 0;
    for (long count : {-1L, -2L, -1000000L, std::numeric_limits<long>::min()})
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle,
                     perdure_protect(handle, 1, &number, sizeof number, static_cast<size_t>(count)));
    // Sizes that do not overflow but exceed any memory are refused before anything is allocated for them.
    for (size_t count : {size_t{1} << 60, (size_t{1} << 60) - 1, size_t{1} << 58, size_t{1} << 50})
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 1, &number, 8, count));
    REQUIRE(std::strstr(perdure_error_text(handle), "region 1") != nullptr);
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 1, &number, 0, 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 1, &number, static_cast<size_t>(-1), 2));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 1, nullptr, 4, 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, -1, &number, 4, 1));
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_unprotect(handle, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, nullptr, 4, 0));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 1));
    return 0;
  });
}

TEST_P(WrongUse, OverlappingRegionsAreRefused) {
  run_alone([](perdure_t* handle) {
    std::vector<double> array(100);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, array.data() + 20, 8, 20));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 2, array.data(), 8, 21));
    REQUIRE(std::strstr(perdure_error_text(handle), "region 1") != nullptr);
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 2, array.data() + 39, 8, 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_protect(handle, 2, array.data() + 25, 8, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 2, array.data(), 8, 20));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 3, array.data() + 40, 8, 60));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 4, array.data() + 20, 8, 20));
    return 0;
  });
}

TEST_P(WrongUse, NullPointersAreRefusedEverywhere) {
  run_alone([](perdure_t* handle) {
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, nullptr, 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_restore(handle, nullptr, 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_wait(handle, nullptr, 1, PERDURE_LEVEL_STORE, 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_retire(handle, nullptr, 1));
    std::int64_t version = 5;
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_latest(handle, nullptr, &version));
    perdure_region_size size;
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_stored_size(handle, nullptr, 1, 1, &size));
    perdure_level level;
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_level_reached(handle, nullptr, 1, &level));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_get_progress(handle, nullptr));
    char text[8];
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_next_report(handle, nullptr, 8));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_next_report(handle, text, 0));
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_next_report(handle, text, 8));
    int number = 1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, &number, 4, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_latest(handle, "app", nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_stored_size(handle, "app", 1, 1, nullptr));
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_level_reached(handle, "app", 1, nullptr));
    REQUIRE(perdure_restore_regions(handle, "app", 1, nullptr, 3) != PERDURE_OK);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_regions(handle, "app", 1, nullptr, 0));
    REQUIRE(perdure_checkpoint(nullptr, "app", 1) == PERDURE_INVALID_ARGUMENT);
    REQUIRE(perdure_protect(nullptr, 1, &number, 4, 1) == PERDURE_INVALID_ARGUMENT);
    REQUIRE(perdure_close(nullptr) == PERDURE_INVALID_ARGUMENT);
    perdure_t* none = nullptr;
    REQUIRE(perdure_close(&none) != PERDURE_OK);
    REQUIRE(perdure_error_text(nullptr) != nullptr);
    REQUIRE(perdure_error_retryable(nullptr) == 0);
    REQUIRE(perdure_open(nullptr, nullptr, nullptr, 0) == PERDURE_INVALID_ARGUMENT);
    perdure_t* opened = handle;
    char message[100] = "";
    REQUIRE(perdure_open_communicator(nullptr, nullptr, &opened, message, sizeof message) == PERDURE_INVALID_ARGUMENT);
    REQUIRE(opened == nullptr && std::strlen(message) > 0);
    perdure_communicator empty{};
    REQUIRE(perdure_open_communicator(&empty, nullptr, &opened, nullptr, 0) == PERDURE_INVALID_ARGUMENT);
    return 0;
  });
}

TEST_P(WrongUse, NamesThatCouldLeaveTheStoreAreRefused) {
  run_alone([](perdure_t* handle) {
    int number = 1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, &number, 4, 1));
    const std::vector<std::string> names = {
        "",     ".",     "..",    ".hidden",  "../up", "a/b",      "/etc/passwd",         "a b",
        "a\nb", "-dash", "_line", "\xc3\xa4", "a;b",   "name\x7f", std::string(129, 'a'), std::string(10000, 'a')};
    for (const auto& name : names) {
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, name.c_str(), 1));
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_restore(handle, name.c_str(), PERDURE_LATEST));
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_retire(handle, name.c_str(), 1));
      std::int64_t version = 0;
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_latest(handle, name.c_str(), &version));
      perdure_level level;
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_level_reached(handle, name.c_str(), 1, &level));
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_wait(handle, name.c_str(), 1, PERDURE_LEVEL_STORE, 1));
      REQUIRE(std::strlen(perdure_error_text(handle)) < 1000);
    }
    for (const auto& name : {std::string(128, 'a'), std::string("A-z_0.9"), std::string("7")})
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, name.c_str(), 1));
    return 0;
  });
}

TEST_P(WrongUse, VersionsLevelsAndTimesThatCannotBeAreRefused) {
  run_alone([](perdure_t* handle) {
    int number = 1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, &number, 4, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    for (std::int64_t version : {std::int64_t{-2}, std::int64_t{-1000}, std::numeric_limits<std::int64_t>::min()}) {
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, "app", version));
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_restore(handle, "app", version));
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_retire(handle, "app", version));
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_wait(handle, "app", version, PERDURE_LEVEL_STORE, 1));
      perdure_region_size size;
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_stored_size(handle, "app", version, 1, &size));
    }
    REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle, perdure_checkpoint(handle, "app", PERDURE_LATEST));
    for (int level : {-1, 0, 4, 99})
      REQUIRE_STATUS(PERDURE_INVALID_ARGUMENT, handle,
                     perdure_wait(handle, "app", 1, static_cast<perdure_level>(level), 1));
    for (double timeout : {30.0, 1e300, PERDURE_FOREVER, std::numeric_limits<double>::infinity()})
      REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, timeout));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", std::numeric_limits<std::int64_t>::max()));
    std::int64_t latest = 0;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_latest(handle, "app", &latest));
    REQUIRE(latest == std::numeric_limits<std::int64_t>::max());
    return 0;
  });
}

TEST_P(WrongUse, AVersionThatIsTakenIsNotWrittenAgain) {
  run_alone([](perdure_t* handle) {
    int number = 1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, &number, 4, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    number = 2;
    REQUIRE_STATUS(PERDURE_EXISTS, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30));
    REQUIRE_STATUS(PERDURE_EXISTS, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(number == 1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_retire(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_retire(handle, "app", 1));
    number = 3;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    number = 0;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(number == 3);
    return 0;
  });
}

TEST_P(WrongUse, RetiringOneVersionFirstDoesNotMakeTheOthersFree) {
  Program before{options()};
  before.last = 2;
  before.wait_for_store = true;
  RunOptions one;
  one.ranks = 1;
  const auto outcome = run_ranks(one, [&](const Rank& rank) { return before.run(rank); });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  run_alone([&](perdure_t* handle) {
    State state(0, before.words);
    state.protect(handle);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_retire(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_EXISTS, handle, perdure_checkpoint(handle, "app", 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_PROCESS, 30));
    return 0;
  });
}

TEST_P(WrongUse, RestoreWithOtherRegionsTouchesNothing) {
  run_alone([](perdure_t* handle) {
    std::vector<int> a(5000), b(300);
    std::iota(a.begin(), a.end(), 1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, a.data(), 4, a.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 2, b.data(), 4, b.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    const std::vector<int> changed(6000, -7);
    a = changed;
    b.assign(300, -7);
    const auto untouched = [&] { return a == changed && b == std::vector<int>(300, -7); };
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, a.data(), 4, 6000));  // larger
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    REQUIRE(std::strstr(perdure_error_text(handle), "5000") != nullptr);
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, a.data(), 4, 4999));  // smaller
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, a.data(), 8, 2500));  // as many bytes, other elements
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, a.data(), 4, 5000));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 3, a.data() + 5500, 4, 10));  // this one is not stored
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    const int missing[] = {1, 9};
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore_regions(handle, "app", 1, missing, 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 3));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 2));  // one region fewer than stored
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 1));
    REQUIRE(std::strstr(perdure_error_text(handle), "region 2 is stored and not protected") != nullptr);
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_restore(handle, "app", 2));
    REQUIRE(std::strstr(perdure_error_text(handle), "its only version is 1") != nullptr);
    REQUIRE_STATUS(PERDURE_NOT_FOUND, handle, perdure_restore(handle, "other", PERDURE_LATEST));
    REQUIRE(untouched());
    return 0;
  });
}

TEST_P(WrongUse, StoredSizesLetAProgramResizeAndRestoreSomeRegions) {
  run_alone([](perdure_t* handle) {
    std::vector<int> a(70000), b(300, 4);
    std::iota(a.begin(), a.end(), 1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, a.data(), 4, a.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 2, b.data(), 4, b.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    const std::vector<int> original = a;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_unprotect(handle, 1));
    perdure_region_size size{};
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_stored_size(handle, "app", 1, 9, &size));
    REQUIRE_STATUS(PERDURE_MISMATCH, handle, perdure_stored_size(handle, "app", 2, 1, &size));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_stored_size(handle, "app", 1, 1, &size));
    REQUIRE(size.element_bytes == 4);
    std::vector<int> resized(size.count);
    b.assign(300, 5);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, resized.data(), size.element_bytes, size.count));
    const int some[] = {1};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_regions(handle, "app", 1, some, 1));
    REQUIRE(resized == original);
    REQUIRE(b == std::vector<int>(300, 5));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_regions(handle, "app", 1, some, 0));
    const int all[] = {2, 1};
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore_regions(handle, "app", 1, all, 2));
    REQUIRE(b == std::vector<int>(300, 4));
    return 0;
  });
}

TEST_P(WrongUse, CallsAfterCloseGiveAnError) {
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank& rank) {
    perdure_t* handle = rank.open(options());
    perdure_t *copy = handle, *second = nullptr;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_close(&handle));
    REQUIRE(handle == nullptr);
    second = rank.open(options());  // the old number must not lead to the new handle
    int number = 0;
    std::int64_t version = 0;
    perdure_progress progress;
    char text[100];
    REQUIRE(perdure_protect(copy, 1, &number, 4, 1) == PERDURE_CLOSED);
    REQUIRE(perdure_checkpoint(copy, "app", 1) == PERDURE_CLOSED);
    REQUIRE(perdure_latest(copy, "app", &version) == PERDURE_CLOSED);
    REQUIRE(perdure_restore(copy, "app", 1) == PERDURE_CLOSED);
    REQUIRE(perdure_wait(copy, "app", 1, PERDURE_LEVEL_STORE, 1) == PERDURE_CLOSED);
    REQUIRE(perdure_get_progress(copy, &progress) == PERDURE_CLOSED);
    REQUIRE(perdure_next_report(copy, text, sizeof text) == PERDURE_CLOSED);
    REQUIRE(perdure_retire(copy, "app", 1) == PERDURE_CLOSED);
    REQUIRE(std::strlen(perdure_error_text(copy)) > 0);
    REQUIRE(perdure_close(&copy) == PERDURE_CLOSED);
    REQUIRE_STATUS(PERDURE_OK, second, perdure_close(&second));
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
}

TEST_P(WrongUse, AForkedChildCannotUseTheHandleAndDoesNotDisturbTheParent) {
  run_alone([](perdure_t* handle) {
    std::vector<int> numbers(50000, 1);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, numbers.data(), 4, numbers.size()));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    const pid_t child = ::fork();
    if (child == 0) {
      perdure_progress progress;
      int wrong = 0;
      wrong += perdure_checkpoint(handle, "app", 2) != PERDURE_WRONG_PROCESS;
      wrong += perdure_protect(handle, 2, &wrong, 4, 1) != PERDURE_WRONG_PROCESS;
      wrong += perdure_restore(handle, "app", 1) != PERDURE_WRONG_PROCESS;
      wrong += perdure_get_progress(handle, &progress) != PERDURE_WRONG_PROCESS;
      wrong += perdure_close(&handle) != PERDURE_WRONG_PROCESS;
      // The leak check cannot follow the parent's threads, which are not in this process.
      if (PERDURE_ADDRESS_SANITIZER) ::_exit(wrong);
      std::exit(wrong);  // with the destructors of static objects
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    REQUIRE(status == 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 2));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    return 0;
  });
}

// Options are refused at opening: every error names the wrong option, and nothing remains.
TEST_P(WrongUse, OptionsThatCannotBeAreRefusedByName) {
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank&) {
    const auto refused = [&](const std::string& more, const std::string& expected) {
      perdure_t* handle = nullptr;
      char message[2048] = "";
      const auto status = perdure_open(options(more).c_str(), &handle, message, sizeof message);
      const bool named = std::string(message).find(expected) != std::string::npos;
      if (status == PERDURE_OK || handle != nullptr || !named)
        std::fprintf(stderr, "%s: %s: %s\n", more.c_str(), perdure_status_name(status), message);
      return status != PERDURE_OK && handle == nullptr && named;
    };
    REQUIRE(refused("stroe.path=/tmp", "store.path"));
    REQUIRE(refused("retention.keep_lst=3", "retention.keep_last"));
    REQUIRE(refused("engine.mode=deamon", "daemon"));
    REQUIRE(refused("chunk_bytes=many", "chunk_bytes"));
    REQUIRE(refused("chunk_bytes=-5", "chunk_bytes"));
    REQUIRE(refused("retention.keep_last=0", "retention.keep_last"));
    REQUIRE(refused("store.path=", "store.path"));
    REQUIRE(refused("store.path=gopher://there", "gopher"));
    REQUIRE(refused("tier.order=memory,floppy", "floppy"));
    REQUIRE(refused("nonsense", "nonsense"));
    REQUIRE(refused("node.path=/proc/nowhere", "/proc/nowhere"));
    char tiny[4] = "abc";
    perdure_t* handle = nullptr;
    REQUIRE(perdure_open("stroe.path=x", &handle, tiny, sizeof tiny) == PERDURE_INVALID_ARGUMENT);
    REQUIRE(std::strlen(tiny) == 3);
    REQUIRE(perdure_open("stroe.path=x", &handle, nullptr, 0) == PERDURE_INVALID_ARGUMENT);
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  EXPECT_FALSE(fs::exists(directory_.path() + "/store"));
}

TEST_P(WrongUse, AStoreThatIsAFileIsReportedAndTheApplicationGoesOn) {
  const std::string file = directory_.path() + "/store";
  write_bytes(file, {'x'});
  RunOptions run;
  run.ranks = 1;
  const auto outcome = run_ranks(run, [&](const Rank&) {
    perdure_t* handle = nullptr;
    char message[1024] = "";
    if (perdure_open(options("flush.give_up_after=0.1").c_str(), &handle, message, sizeof message) != PERDURE_OK)
      return 7;
    int number = 1;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_protect(handle, 1, &number, 4, 1));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_checkpoint(handle, "app", 1));
    REQUIRE(perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30) != PERDURE_OK);
    number = 0;
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", 1));
    REQUIRE(number == 1);
    REQUIRE(all_reports(handle).find(file) != std::string::npos);
    REQUIRE(perdure_close(&handle) != PERDURE_OK || std::string(GetParam()) == "daemon");
    return 0;
  });
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory_.path());
  EXPECT_EQ(read_bytes(file), std::vector<char>{'x'});
}

}  // namespace
