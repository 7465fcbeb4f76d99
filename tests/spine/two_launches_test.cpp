// Tests two launches of programs that use the same checkpoint name in one store. They run at once or one after the
// other, and the second may have other settings.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "damage.hpp"
#include "faults.hpp"
#include "os/system.hpp"
#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::test_support;

class TwoLaunches : public ::testing::TestWithParam<const char*> {
 protected:
  std::string options(const std::string& more = {}) const {
    return options_in(directory_.path(), GetParam(), "checkpoint.lease=2;" + more);
  }
  std::string store() const { return directory_.path() + "/store"; }
  void expect_success(int ranks, const std::function<int(const Rank&)>& body) {
    RunOptions run;
    run.ranks = ranks;
    const auto outcome = run_ranks(run, body);
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
  }
  TemporaryDirectory directory_;
  Faults faults_{directory_.path()};
};
INSTANTIATE_TEST_SUITE_P(Modes, TwoLaunches, ::testing::Values("embedded", "daemon"),
                         [](const auto& param) { return std::string(param.param); });

/// A job of one rank.
perdure_t* open_alone(const std::string& options) {
  perdure_t* handle = nullptr;
  char message[500] = "";
  if (perdure_open(options.c_str(), &handle, message, sizeof message) != PERDURE_OK)
    std::fprintf(stderr, "%s\n", message);
  return handle;
}

// Models a parameter study that is started twice in one directory. The second launch must not resume from the first
// one's state nor remove its versions. Two configurations give each launch its own engine.
TEST_P(TwoLaunches, OfOneNameAtOnceTheSecondIsToldAndTheFirstIsUnharmed) {
  expect_success(2, [&](const Rank& rank) {
    std::uint64_t value = rank.rank == 0 ? 1 : 1000;
    perdure_t* handle = open_alone(options("retention.keep_last=" + std::to_string(rank.rank + 1)));
    RANK_CHECK(handle != nullptr, "open");
    RANK_CHECK(perdure_protect(handle, 1, &value, 8, 1) == PERDURE_OK, perdure_error_text(handle));
    if (rank.rank == 0) RANK_CHECK(perdure_checkpoint(handle, "app", 1) == PERDURE_OK, perdure_error_text(handle));
    rank.barrier();
    if (rank.rank == 1) {
      RANK_CHECK(perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_BUSY, perdure_error_text(handle));
      RANK_CHECK(value == 1000, "another job's state came in");
      RANK_CHECK(perdure_checkpoint(handle, "app", 7) == PERDURE_BUSY, perdure_error_text(handle));
      const std::string text = perdure_error_text(handle);
      RANK_CHECK(text.find("another launch writes it: job 'default'") != std::string::npos, text);
      RANK_CHECK(perdure_retire(handle, "app", 1) == PERDURE_BUSY, perdure_error_text(handle));
      RANK_CHECK(perdure_checkpoint(handle, "mine", 7) == PERDURE_OK, perdure_error_text(handle));
    }
    rank.barrier();
    if (rank.rank == 0) {
      value = 2;
      RANK_CHECK(perdure_checkpoint(handle, "app", 2) == PERDURE_OK, perdure_error_text(handle));
      RANK_CHECK(perdure_wait(handle, "app", 2, PERDURE_LEVEL_STORE, 30) == PERDURE_OK, perdure_error_text(handle));
      RANK_CHECK(perdure_close(&handle) == PERDURE_OK, "close");
    }
    rank.barrier();
    if (rank.rank == 1) {  // the first has ended: the name is free
      RANK_CHECK(perdure_restore(handle, "app", PERDURE_LATEST) == PERDURE_OK, perdure_error_text(handle));
      RANK_CHECK(value == 2, "not what the first wrote last");
      RANK_CHECK(perdure_checkpoint(handle, "app", 3) == PERDURE_OK, perdure_error_text(handle));
      RANK_CHECK(perdure_close(&handle) == PERDURE_OK, "close");
    }
    return 0;
  });
  stop_daemons(directory_.path());
}

/// Asks by the calls that change nothing; all must give the same answer.
perdure_status told_what_is_there(Protected& app) {
  std::int64_t version = 0;
  const perdure_status latest = perdure_latest(app.handle(), "app", &version);
  perdure_region_size bytes{};
  const perdure_status size = perdure_stored_size(app.handle(), "app", PERDURE_LATEST, 1, &bytes);
  return latest == size ? latest : PERDURE_INTERNAL;
}

TEST_P(TwoLaunches, OfDifferentJobsNeverShareAName) {
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, options("job=first"));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, options("job=second"));
    RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_MISMATCH, app.error());
    RANK_CHECK(told_what_is_there(app) == PERDURE_MISMATCH, app.error());
    RANK_CHECK(app.checkpoint(2) == PERDURE_MISMATCH, app.error());
    RANK_CHECK(app.error().find("'first'") != std::string::npos, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory_.path());
}

// A study has finished, and its program starts again for the next case in the same directory.
TEST_P(TwoLaunches, OfAnotherCaseNeverGetTheStateOfTheFirst) {
  const auto launch = [&](const std::string& more, const std::function<int(Protected&)>& body) {
    expect_success(1, [&](const Rank& rank) {
      Protected app(rank, options(more));
      if (const int failed = body(app)) return failed;
      RANK_CHECK(app.close() == PERDURE_OK, "close");
      return 0;
    });
  };
  launch("case=re-100", [](Protected& app) {
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    return 0;
  });
  launch("case=re-200", [](Protected& app) {
    RANK_CHECK(perdure_restore(app.handle(), "app", PERDURE_LATEST) == PERDURE_MISMATCH, app.error());
    RANK_CHECK(app.error().find("case 're-100'") != std::string::npos, app.error());
    RANK_CHECK(app.checkpoint(2) == PERDURE_MISMATCH, app.error());
    return 0;
  });
  launch("case=re-100", [](Protected& app) {
    RANK_CHECK(app.restores(PERDURE_LATEST, 1), app.error());
    return 0;
  });
  stop_daemons(directory_.path());
}

// perdured keeps flushing after its job was killed. With other settings the next launch gets another engine, which must
// know the newest version all the same.
TEST_P(TwoLaunches, WithOtherSettingsTheSecondFindsWhatTheFirstDidNotFlush) {
  RunOptions two;
  two.ranks = 2;
  const auto died = run_ranks(two, [&](const Rank& rank) {
    faults_.install();
    Protected app(rank, options("node.ranks_per_node=1"));
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    rank.barrier();
    if (rank.rank == 0) faults_.set("pwrite:/store/app:ENOSPC");
    rank.barrier();
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK, app.error());
    rank.barrier();
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_TRUE(died.all(128 + SIGKILL)) << died.text();
  expect_success(2, [&](const Rank& rank) {
    Protected app(rank, options("node.ranks_per_node=1;flush.threads=1"));
    RANK_CHECK(app.restores(PERDURE_LATEST, 2), app.error());
    RANK_CHECK(app.wait(2) == PERDURE_OK, app.error());
    RANK_CHECK(app.checkpoint(3) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  faults_.set("");
  stop_daemons(directory_.path());
}

// The first launch's engine lives on idle for a while. The second launch's version is only on the node.
TEST_P(TwoLaunches, WithTheFirstSettingsAgainTheThirdFindsWhatTheSecondLeft) {
  const auto first = options("engine.idle_exit=60");
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, first);
    RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  faults_.set("pwrite:/store/app:ENOSPC");
  const auto died = run_ranks({.ranks = 1}, [&](const Rank& rank) {
    faults_.install();
    Protected app(rank, options_in(directory_.path(), "embedded", "checkpoint.lease=2;flush.threads=1"));
    RANK_CHECK(app.restores(PERDURE_LATEST, 1), app.error());
    RANK_CHECK(app.checkpoint(2) == PERDURE_OK, app.error());
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_TRUE(died.all(128 + SIGKILL)) << died.text();
  faults_.set("");
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, first);
    RANK_CHECK(app.restores(PERDURE_LATEST, 2), app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  stop_daemons(directory_.path());
}

// Three settings in turn: the second launch's version is not in the first instance's directory.
TEST_P(TwoLaunches, FindWhatTheirOwnEngineLeftAmongOthers) {
  const auto killed_with_unflushed = [&](const std::string& more, std::int64_t step) {
    faults_.set("pwrite:/store/app:ENOSPC");
    const auto died = run_ranks({.ranks = 1}, [&](const Rank& rank) {
      faults_.install();
      Protected app(rank, options(more));
      RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
      ::raise(SIGKILL);
      return 0;
    });
    EXPECT_TRUE(died.all(128 + SIGKILL)) << died.text();
  };
  killed_with_unflushed("", 1);
  killed_with_unflushed("flush.threads=1", 2);
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, options("flush.threads=3"));
    RANK_CHECK(app.restores(PERDURE_LATEST, 2), app.error());
    RANK_CHECK(app.close() == PERDURE_OK, "close");
    return 0;
  });
  faults_.set("");
  stop_daemons(directory_.path());
}

// An engine with the first settings lives on, empty, when the second launch captures and everything dies. The third
// settings are new: the second launch's version is found beside the first one's empty directory.
TEST_P(TwoLaunches, AThirdOneFindsWhatTheSecondLeftBesideAnEmptyPlace) {
  faults_.set("pwrite:/store/app:ENOSPC");
  const auto killed = [&](const std::string& more, bool captures) {
    const auto died = run_ranks({.ranks = 1}, [&](const Rank& rank) {
      faults_.install();
      Protected app(rank, options("engine.idle_exit=60;" + more));
      if (captures) {
        RANK_CHECK(app.checkpoint(1) == PERDURE_OK, app.error());
      }
      ::raise(SIGKILL);
      return 0;
    });
    EXPECT_TRUE(died.all(128 + SIGKILL)) << died.text();
  };
  killed("", false);
  killed("flush.threads=1", true);
  kill_engines(directory_.path());
  expect_success(1, [&](const Rank& rank) {
    Protected app(rank, options("flush.threads=3"));
    RANK_CHECK(app.restores(PERDURE_LATEST, 1), app.error());
    RANK_CHECK(app.wait(1, 0.1) != PERDURE_NOT_FOUND, app.error());
    return 0;
  });
  faults_.set("");
  kill_engines(directory_.path());
}

}  // namespace
