// Real programs use include/perdure/process.h: processes capture themselves, and others.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"
#include "perdure/process.h"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string options_of(const ProcessPlace& place) {
  return "store.path=" + place.store + ";node.path=" + place.node + ";tier.file.path=" + place.node + "-files";
}

/// `selfish` in a place.
class Selfish {
 public:
  static constexpr int kStatus = 5;
  Selfish(const ProcessPlace& place, const std::string& steps, const std::string& captures, const std::string& options,
          const std::vector<std::string>& more = {})
      : place_(place), program_(command(place, steps, captures, options, more), place.file("output")) {}
  process::Program& program() { return program_; }
  std::string log() const { return content_of(place_.file("log")); }
  void wait_for_line(const std::string& line) const {
    EXPECT_TRUE(eventually("the program logs: " + line, [&] { return log().find(line) != std::string::npos; }));
  }
  /// Gives the result of a run without a capture.
  static std::string result(const std::string& steps) {
    const ProcessPlace place;
    EXPECT_EQ(Selfish(place, steps, "0", "").program().end(), kStatus);
    return content_of(place.file("result"));
  }

 private:
  static std::vector<std::string> command(const ProcessPlace& place, const std::string& steps,
                                          const std::string& captures, const std::string& options,
                                          const std::vector<std::string>& more) {
    std::vector<std::string> all = {PERDURE_SELFISH, place.files, "selfish", steps, captures, options};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  const ProcessPlace& place_;
  process::Program program_;
};

TEST(CaptureOfOneself, ReturnsTwiceAndTheResumedProgramEndsWithTheSameResult) {
  const Orphans orphans;
  const ProcessPlace place;
  Selfish selfish(place, "4", "3", options_of(place));
  selfish.wait_for_line("step 2:");
  EXPECT_EQ(selfish.log(), "step 1: captured 1\nstep 2: captured 2\n");
  ::kill(selfish.program().process(), SIGKILL);
  EXPECT_EQ(selfish.program().end(), -SIGKILL);
  const Ran ran = resumed(place, {"selfish"});
  EXPECT_EQ(ran.status, Selfish::kStatus) << ran.err;
  EXPECT_EQ(selfish.log(), "step 1: captured 1\nstep 2: captured 2\nstep 2: came back -1\nstep 3: captured 3\n");
  EXPECT_EQ(content_of(place.file("result")), Selfish::result("4"));
}

TEST(CaptureOfOneself, LeavesTheProcessWithNothingOfPerdure) {
  const ProcessPlace place;
  Selfish selfish(place, "2", "2", options_of(place));
  selfish.wait_for_line("step 1: captured 1");
  selfish.wait_for_line("step 2: captured 2");
  const std::string root = "/proc/" + std::to_string(selfish.program().process()) + "/";
  std::set<std::string> descriptors, threads;
  for (const auto& entry : std::filesystem::directory_iterator(root + "fd"))
    descriptors.insert(entry.path().filename().string());
  for (const auto& entry : std::filesystem::directory_iterator(root + "task"))
    threads.insert(content_of(entry.path() / "children"));
  EXPECT_EQ(descriptors, (std::set<std::string>{"0", "1", "2"}));
  EXPECT_EQ(threads, std::set<std::string>{""}) << "children";
  touch(place.file("go"));
  EXPECT_EQ(selfish.program().end(), Selfish::kStatus);
}

TEST(CaptureOfOneself, ThatFailsSaysWhyAndTheProgramGoesOn) {
  const ProcessPlace place;
  touch(place.file("go"));
  Selfish selfish(place, "3", "2", "store.path=" + place.file("go") + "/store;node.path=" + place.node);
  EXPECT_EQ(selfish.program().end(), Selfish::kStatus);
  EXPECT_THAT(selfish.log(), AllOf(HasSubstr("step 1: failed"), HasSubstr(place.file("go"))));
  EXPECT_EQ(content_of(place.file("result")), Selfish::result("3"));
}

TEST(CaptureOfOneself, InAFullStoreFailsAndTheProgramGoesOn) {
  const ProcessPlace place;
  touch(place.file("go"));
  ::setenv("PERDURE_TEST_FAULTS", ("pwrite:" + place.store + ":ENOSPC").c_str(), 1);
  Selfish selfish(place, "3", "2", options_of(place) + ";flush.give_up_after=0.2");
  ::unsetenv("PERDURE_TEST_FAULTS");
  EXPECT_EQ(selfish.program().end(), Selfish::kStatus);
  EXPECT_THAT(selfish.log(), AllOf(HasSubstr("step 1: failed"), HasSubstr("step 2: failed"), HasSubstr("No space")));
  EXPECT_EQ(content_of(place.file("result")), Selfish::result("3"));
}

TEST(CaptureOfOneself, ThatTheSystemForbidsFailsAndTheProgramGoesOn) {
  const ProcessPlace place;
  touch(place.file("go"));
  Selfish selfish(place, "3", "2", options_of(place), {"private"});
  EXPECT_EQ(selfish.program().end(), Selfish::kStatus);
  EXPECT_THAT(selfish.log(), HasSubstr("step 1: failed " + std::to_string(PERDURE_PERMISSION)));
  EXPECT_EQ(content_of(place.file("result")), Selfish::result("3"));
}

TEST(ProcessLibrary, CapturesAnotherProcessAndBringsItBack) {
  const Orphans orphans;
  const ProcessPlace place;
  Patient patient(place);
  const std::string options = options_of(place);
  char message[1024] = "", text[1024] = "something";
  EXPECT_EQ(perdure_process_obstacles(patient.process(), nullptr, text, sizeof text, message, sizeof message),
            PERDURE_OK)
      << message;
  EXPECT_STREQ(text, "");
  perdure_capture_choices choices{};
  choices.options = options.c_str();
  choices.stop = 1;
  std::int64_t version = 0;
  ASSERT_EQ(perdure_capture_process(patient.process(), "them", &choices, &version, message, sizeof message), PERDURE_OK)
      << message;
  EXPECT_EQ(version, 1);
  EXPECT_EQ(patient.was_killed(), -SIGKILL);
  perdure_resume_choices back{};
  back.options = options.c_str();
  int process = 0;
  perdure_status status = PERDURE_EXISTS;
  while (status == PERDURE_EXISTS)  // another process may have its number for a moment
    status = perdure_resume_process("them", PERDURE_LATEST, &back, &process, message, sizeof message);
  ASSERT_EQ(status, PERDURE_OK) << message;
  patient.lives_again();
  EXPECT_EQ(process, patient.process());
  patient.works();
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(content_of(place.file("output")), "wrong: no\n");
}

TEST(ProcessLibrary, NamesWhatStandsInTheWayAndWhatCannotBe) {
  const ProcessPlace place;
  Patient patient(place, {"socket"});
  const std::string options = options_of(place);
  char message[1024] = "", text[1024] = "";
  EXPECT_EQ(perdure_process_obstacles(patient.process(), nullptr, text, sizeof text, message, sizeof message),
            PERDURE_OK);
  EXPECT_THAT(text, AllOf(HasSubstr("descriptor 3"), HasSubstr("TCP"), HasSubstr("it can be left out: fd:3")));
  perdure_capture_choices choices{};
  choices.options = options.c_str();
  EXPECT_EQ(perdure_capture_process(patient.process(), "them", &choices, nullptr, message, sizeof message),
            PERDURE_UNSUPPORTED);
  EXPECT_THAT(message, HasSubstr("TCP"));
  EXPECT_FALSE(std::filesystem::exists(place.store + "/them"));
  const int without[] = {3};
  choices.without = without;
  choices.without_count = 1;
  EXPECT_EQ(perdure_capture_process(patient.process(), "them", &choices, nullptr, message, sizeof message), PERDURE_OK)
      << message;
  EXPECT_EQ(perdure_capture_process(0, "them", &choices, nullptr, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  int process = 0;
  perdure_resume_choices back{};
  back.options = options.c_str();
  EXPECT_EQ(perdure_resume_process("nobody", PERDURE_LATEST, &back, &process, message, sizeof message),
            PERDURE_NOT_FOUND);
  back.affinity = "somehow";
  EXPECT_EQ(perdure_resume_process("them", PERDURE_LATEST, &back, &process, message, sizeof message),
            PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(message, HasSubstr("there is no mode 'somehow'"));
  EXPECT_EQ(perdure_capture_self("them", nullptr, nullptr, nullptr, message, sizeof message), PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

}  // namespace
}  // namespace perdure::cli
