// With perdure resume --lazy, the program runs before its pages are there. It sees every page as it was captured,
// whichever process is killed meanwhile.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"
#include "os/crash_point.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kLooked = 7;

/// Chunks are short, so that most of them come afterwards.
const std::vector<std::string> kShortChunks = {"PERDURE_CHUNK_BYTES=65536"};

/// The program `missing`, which checks its memory all the time. It was captured and has ended.
class ResumeLazily : public testing::Test {
 protected:
  void SetUp() override {
    process::Program program({PERDURE_MISSING, place_.files, "looks"}, place_.file("output"));
    wait_for_file(place_.file("ready"));
    number_ = program.process();
    ASSERT_EQ(Perdure(place_, {"capture", std::to_string(number_), "--stop"}, kShortChunks).wait().status, kGood);
    ASSERT_EQ(program.end(), -SIGKILL);
    touch(place_.file("watch"));
  }
  Ran resume(std::vector<std::string> variables = {}, std::vector<std::string> more = {}) {
    variables.insert(variables.end(), kShortChunks.begin(), kShortChunks.end());
    more.insert(more.begin(), {"missing", "--lazy"});
    return resumed(place_, more, variables);
  }
  bool has(const char* name) const { return fs::exists(place_.file(name)); }
  void expect_no_lie() const { EXPECT_FALSE(has("lie")) << "it has seen a page that had not come"; }
  /// Expects that it lives, and checks all of its memory once more.
  void expect_it_lives() const {
    fs::remove_all(place_.file("looked"));
    wait_for_file(place_.file("looked"));
    expect_no_lie();
  }
  void end_it() {
    touch(place_.file("end"));
    int how = 0;
    ASSERT_EQ(::waitpid(number_, &how, 0), number_);
    EXPECT_EQ(WEXITSTATUS(how), kLooked);
    fs::remove(place_.file("end"));
  }
  /// "resume_released" is passed when it runs already.
  static std::vector<std::string> points() {
    std::vector<std::string> all = {"resume_begun", "resume_mapped", "resume_written", "resume_finished",
                                    "resume_released"};
    for (const auto& point : os::kToolCrashPoints)
      if (point.name.starts_with("lazy_")) all.emplace_back(point.name);
    return all;
  }
  Orphans orphans_;
  ProcessPlace place_;
  pid_t number_ = 0;
};

TEST_F(ResumeLazily, GoesOnAndEndsAsAnyOther) {
  Perdure perdure(place_, {"resume", "missing", "--lazy"}, kShortChunks);
  ASSERT_TRUE(perdure.says("goes on as process")) << perdure.err();
  wait_for_file(place_.file("looked"));
  touch(place_.file("end"));
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, kLooked) << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("all pages came before"))) << "it was not lazy";
  expect_no_lie();
}

TEST_F(ResumeLazily, DetachedReturnsWhenAllPagesAreThere) {
  const Ran ran = resume({}, {"--detach", "--json"});
  ASSERT_EQ(ran.status, kGood) << ran.err;
  EXPECT_LT(ran.json()["seconds"], ran.json()["complete_s"]);
  expect_it_lives();
  EXPECT_THAT(content_of("/proc/" + std::to_string(number_) + "/smaps"), Not(testing::ContainsRegex("VmFlags:.* um")));
  end_it();
}

TEST_F(ResumeLazily, KilledAtAnyStepWhileAPageIsMissingLeavesNoProcess) {
  for (const std::string& point : points()) {
    if (point == "lazy_over") continue;
    for (const char* hit : {"", ":7"}) {
      if (*hit != 0 && point != "lazy_placed") continue;
      SCOPED_TRACE(point + hit);
      fs::remove_all(place_.file("looked"));
      const Ran killed = resume({"PERDURE_TEST_CRASH=" + point + hit});
      EXPECT_EQ(killed.status, -SIGKILL) << killed.err;
      EXPECT_EQ(Orphans::wait_for_others({}), 1) << "the guard ends by itself, and the new process does not";
      expect_no_lie();
      EXPECT_TRUE(point == "lazy_complete" || !has("looked")) << "it had all pages";
    }
  }
}

TEST_F(ResumeLazily, KilledWhenAllPagesAreThereItGoesOn) {
  const Ran killed = resume({"PERDURE_TEST_CRASH=lazy_over"}, {"--detach"});
  ASSERT_EQ(killed.status, -SIGKILL) << killed.err;
  expect_it_lives();
  end_it();
  Orphans::wait_for_others({});
}

// The resuming process is stopped at some chunk, before or after the program forks, and is then killed.
TEST_F(ResumeLazily, WhatItForkedMeanwhileEndsWithItToo) {
  touch(place_.file("fork"));
  bool forked = false;
  for (int chunk = 20; chunk < 120 && !forked; chunk += 20) {
    SCOPED_TRACE(chunk);
    Perdure perdure(
        place_, {"resume", "missing", "--lazy"},
        {kShortChunks[0], "PERDURE_TEST_CRASH=lazy_placed:" + std::to_string(chunk), "PERDURE_TEST_CRASH_STOPS=1"});
    ASSERT_TRUE(eventually("it forks, or its resumer stands still",
                           [&] { return has("forked") || stands_still(perdure.process()); }));
    ::kill(perdure.process(), SIGKILL);
    EXPECT_EQ(perdure.wait().status, -SIGKILL);
    int killed = 0;
    while (!Orphans::all().empty()) killed += Orphans::wait_for_others({});
    forked = has("forked");
    EXPECT_GE(killed, forked ? 2 : 1);
    expect_no_lie();
    EXPECT_FALSE(has("looked"));
  }
  EXPECT_TRUE(forked);
}

TEST_F(ResumeLazily, PassesSignalsOnWhilePagesAreMissing) {
  Perdure perdure(place_, {"resume", "missing", "--lazy"},
                  {kShortChunks[0], "PERDURE_TEST_CRASH=lazy_placed:2", "PERDURE_TEST_CRASH_STOPS=1"});
  ASSERT_TRUE(perdure.says("goes on as process")) << perdure.err();
  ::kill(perdure.process(), SIGTERM);
  // Or it has ended: the program may get the signal before it needs another page.
  EXPECT_TRUE(eventually("it stands still, or has ended",
                         [&] { return stands_still(perdure.process()) || perdure.has_ended(); }));
  ::kill(perdure.process(), SIGCONT);
  EXPECT_EQ(perdure.wait().status, 128 + SIGTERM);
  expect_no_lie();
}

/// The program needs none of its last chunks before it runs.
TEST_F(ResumeLazily, ADamagedPageEndsItBeforeThatPageIsUsed) {
  std::string segment;
  for (const auto& entry : fs::recursive_directory_iterator(place_.store))
    if (entry.is_regular_file() && entry.path().extension() == ".pds") segment = entry.path();
  fs::remove_all(place_.node);
  fs::remove_all(place_.node + "-files");
  flip_byte(segment, fs::file_size(segment) / 2, 1);
  const Ran ran = resume();
  EXPECT_EQ(ran.status, kCannot) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("goes on as process"), HasSubstr("damage was found in it"),
                             HasSubstr("was killed before it saw")));
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(number_)));
  Orphans::wait_for_others({});
  expect_no_lie();
  EXPECT_FALSE(has("looked"));
}

}  // namespace
}  // namespace perdure::cli
