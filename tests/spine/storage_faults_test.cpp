// Tests a store that fails while versions are flushed to it, in every way a file system can. The application goes on,
// gets one report, and keeps its data. After the fault all versions reach the store.
#include <gtest/gtest.h>

#include <cstdio>

#include "faults.hpp"
#include "scenario.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

struct Case {
  std::string mode, call, error;
  perdure_status code;
  bool permanent;
  bool reading;  ///< the fault also prevents reading the store
  std::string path = "/store";
};

bool reads(const std::string& call) { return call == "open" || call == "lstat"; }

std::vector<Case> all_cases(const std::string& modes_end = {}) {
  std::vector<Case> cases;
  for (const std::string& mode : {"embedded" + modes_end, "daemon" + modes_end}) {
    for (const char* call : {"open", "pwrite", "fdatasync", "rename", "fsync_dir", "mkdir", "fallocate", "lstat"})
      cases.push_back({mode, call, "EIO", PERDURE_IO, false, reads(call)});
    for (const char* error : {"ENOSPC", "EDQUOT"})
      for (const char* call : {"open", "pwrite", "fallocate", "mkdir"})
        cases.push_back({mode, call, error, PERDURE_NO_SPACE, false, reads(call)});
    for (const char* error : {"EACCES", "EROFS"})
      for (const char* call : {"open", "mkdir"})
        cases.push_back({mode, call, error, PERDURE_PERMISSION, true, reads(call)});
    // A version's directory, after the rename.
    cases.push_back({mode, "fsync_dir", "EIO", PERDURE_IO, false, false, "/store/app/"});
    cases.push_back({mode, "*", "ENOENT", PERDURE_NOT_FOUND, false, true});
    cases.push_back({mode, "*", "ESTALE", PERDURE_IO, false, true});
  }
  return cases;
}

std::vector<Case> on_write_cases() {
  auto cases = all_cases(std::string(kOnWrite));
  if (kSanitized) std::erase_if(cases, [](const Case& c) { return c.error != "EIO"; });
  return cases;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const std::string after = info.param.path == "/store" ? "" : "_after_the_rename";
  return info.param.mode + "_" + (info.param.call == "*" ? "everything" : info.param.call) + "_" + info.param.error +
         after;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.mode << ' ' << c.call << ' ' << c.error; }

int live_through(const Rank& rank, const Case& c, const std::string& directory, const Faults& faults) {
  faults.install();
  Protected app(rank, options_in(directory, c.mode, "retention.keep_last=10"));
  RANK_CHECK(app.checkpoint(1) == PERDURE_OK && app.wait(1) == PERDURE_OK, app.error());
  app.reports();

  faults.set(c.call + ":" + c.path + ":" + c.error);
  for (int step : {2, 3}) RANK_CHECK(app.checkpoint(step) == PERDURE_OK, app.error());
  const auto told = app.reports("flush of app version 2");
  RANK_CHECK(count_containing(told, "flush of app") == 1, joined(told));
  RANK_CHECK(count_containing(told, directory + "/store") >= 1 && count_containing(told, "); ") >= 1, joined(told));
  const perdure_status waited = app.wait(2, c.permanent ? 20 : 0.1);
  RANK_CHECK(waited == (c.permanent ? c.code : PERDURE_TIMEOUT), app.error());
  if (!c.reading) RANK_CHECK(app.restores(1, 1), app.error());
  RANK_CHECK(app.restores(PERDURE_LATEST, 3), app.error());
  RANK_CHECK(app.checkpoint(4) == PERDURE_OK, app.error());

  faults.set("");
  if (c.permanent) RANK_CHECK(app.checkpoint(5) == PERDURE_OK, app.error());
  for (int step : {2, 3, 4}) RANK_CHECK(app.wait(step) == PERDURE_OK, app.error());
  const auto after = app.reports("works again");
  for (int step : {1, 2, 4}) RANK_CHECK(app.restores(step, static_cast<std::uint64_t>(step)), app.error());
  RANK_CHECK(count_containing(after, "flush of") == 0 && count_containing(after, "works again") == 1, joined(after));
  RANK_CHECK(app.close() == PERDURE_OK, "close");
  return 0;
}

class FailingStore : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Every, FailingStore, ::testing::ValuesIn(all_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(OnWrite, FailingStore, ::testing::ValuesIn(on_write_cases()), case_name);

TEST_P(FailingStore, IsReportedOnceAndGetsEverythingWhenItWorksAgain) {
  if (lacks_protection(GetParam().mode)) GTEST_SKIP() << kNoProtection;
  TemporaryDirectory directory;
  const Faults faults(directory.path());
  RunOptions run;
  run.ranks = 1;
  const auto outcome =
      run_ranks(run, [&](const Rank& rank) { return live_through(rank, GetParam(), directory.path(), faults); });
  faults.set("");
  EXPECT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  if (!outcome.all(0)) return;
  std::vector<std::uint64_t> versions{1, 2, 3, 4};
  if (GetParam().permanent) versions.push_back(5);
  expect_clean_store(directory.path() + "/store", "app", versions);
}

}  // namespace
