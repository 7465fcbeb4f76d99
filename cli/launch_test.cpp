// perdure launch runs real programs.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

#include "cli/process_arguments.hpp"
#include "cli/processes_testing.hpp"
#include "process/proc_lists.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// `perdure launch` of the program `patient`.
class LaunchedPatient {
 public:
  LaunchedPatient(const ProcessPlace& place, const std::vector<std::string>& options)
      : place_(place), perdure_(place, command(place, options)) {}
  void wait_until_it_works() const { wait_for_file(place_.file("ready")); }
  void signal(int number) const { ::kill(perdure_.process(), number); }
  pid_t process() const { return perdure_.process(); }
  void wait_for_text(const std::string& text) const { EXPECT_TRUE(perdure_.says(text)) << perdure_.err(); }
  Ran wait() { return perdure_.wait(); }

 private:
  static std::vector<std::string> command(const ProcessPlace& place, const std::vector<std::string>& options) {
    std::vector<std::string> all = {"launch"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", PERDURE_PATIENT, place.files, "7"});
    return all;
  }
  const ProcessPlace& place_;
  Perdure perdure_;
};

class Launch : public testing::Test {
 protected:
  Orphans orphans_;
  ProcessPlace place_;
};

TEST_F(Launch, EndsWithTheProgramsStatusAndPassesSignalsOn) {
  LaunchedPatient launched(place_, {"--json", place_.file("json")});
  launched.wait_until_it_works();
  launched.signal(SIGUSR2);
  wait_for_file(place_.file("heard"));
  touch(place_.file("end"));
  const Ran ran = launched.wait();
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  EXPECT_EQ(ran.out, "wrong: no\n");
  const auto json = base::Json::parse(content_of(place_.file("json")), nullptr, false);
  EXPECT_EQ(json["status"], 7);
  EXPECT_EQ(json["captured"], false);
}

TEST_F(Launch, CapturesOnScheduleAndWhenAsked) {
  LaunchedPatient launched(place_, {"--every", "0.2s", "--name", "image"});
  launched.wait_for_text("captured image@2");
  touch(place_.file("end"));
  EXPECT_EQ(launched.wait().status, Patient::kStatus);
  ProcessPlace other;
  LaunchedPatient asked(other, {});
  asked.wait_until_it_works();
  asked.signal(SIGUSR1);
  asked.wait_for_text("captured patient@1");
  touch(other.file("end"));
  EXPECT_EQ(asked.wait().status, Patient::kStatus);
  EXPECT_EQ(resumed(other, {"patient@1"}).status, Patient::kStatus);
}

TEST_F(Launch, BeforeTheEndOfTheAllocationCapturesAndALaterOneGoesOn) {
  LaunchedPatient launched(place_, {"--resume"});
  launched.wait_until_it_works();
  EXPECT_EQ(content_of(place_.file("heard")), "");
  launched.signal(SIGTERM);
  const Ran ended = launched.wait();
  EXPECT_EQ(ended.status, kGood) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("there is no image of patient yet"), HasSubstr("patient@1"),
                               HasSubstr("perdure launch --resume --name patient")));
  EXPECT_EQ(Orphans::all(), std::set<pid_t>()) << "it was ended";
  const auto so_far = content_of(place_.file("beats"));
  LaunchedPatient again(place_, {"--resume", "--every", "0.2s"});
  again.wait_for_text("captured patient@2");
  touch(place_.file("end"));
  const Ran ran = again.wait();
  EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("patient@1 goes on as process"));
  const auto all = content_of(place_.file("beats"));
  EXPECT_TRUE(all.starts_with(so_far) && all.size() > so_far.size()) << "it went on, and did not begin anew";
  EXPECT_EQ(all.find("\n1\n"), std::string::npos);
}

TEST_F(Launch, CutsFilesBackWhenItGoesOn) {
  for (const bool tree : {false, true}) {
    ProcessPlace place;
    const auto launched = [&](const std::vector<std::string>& options) {
      std::vector<std::string> words = {"launch", "--name", "image"};
      words.insert(words.end(), options.begin(), options.end());
      const std::string patient = PERDURE_PATIENT " " + place.files + " 7; exit $?";
      if (tree) words.insert(words.end(), {"--tree", "--", "/bin/sh", "-c", patient});
      if (!tree) words.insert(words.end(), {"--", PERDURE_PATIENT, place.files, "7"});
      return words;
    };
    Perdure first(place, launched({}));
    wait_for_file(place.file("ready"));
    ::kill(first.process(), SIGTERM);
    const Ran ended = first.wait();
    ASSERT_EQ(ended.status, kGood) << ended.err;
    std::ofstream(place.file("beats"), std::ios::app) << "written after the capture\n";
    touch(place.file("end"));
    const Ran ran = Perdure(place, launched({"--resume", "--cut-back-files"})).wait();
    EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
    EXPECT_EQ(wrong_in_beats(content_of(place.file("beats"))), "") << ran.err;
    EXPECT_EQ(content_of(place.file("beats.cut-1")), "written after the capture\n") << ran.err;
  }
}

TEST_F(Launch, OfATreeCapturesEndsAndBringsBackAllOfIt) {
  const auto launched = [&](const std::vector<std::string>& options, const auto& meanwhile) {
    std::vector<std::string> words = {"launch", "--name", "family"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", PERDURE_FAMILY, "0", "wait"});
    Perdure perdure(place_, words);
    meanwhile(perdure);
    return perdure.wait();
  };
  // All of the family live: launch takes signals since before it let the first one begin.
  const auto wait_for_all = [](const Perdure& perdure) {
    const auto lives = [](pid_t one) { return name_of_process(one) == "family" && !process::has_process_ended(one); };
    EXPECT_TRUE(eventually("all four live", [&] {
      const auto all = process::list_tree(perdure.process());
      return std::count_if(all.begin(), all.end(), lives) >= 4;
    }));
  };
  const Ran alone = launched({}, [&](Perdure& perdure) {
    wait_for_all(perdure);
    // It says so as soon as it has children, which its image would lack.
    EXPECT_TRUE(eventually("it says how a tree is captured", [&] {
      ::kill(perdure.process(), SIGUSR1);
      os::sleep_ns(50'000'000);  // wait: signals that come together are one
      return perdure.err().find("--tree") != std::string::npos;
    }));
    for (const pid_t one : process::list_tree(perdure.process()))
      if (name_of_process(one) == "family") ::kill(one, SIGKILL);
  });
  EXPECT_EQ(alone.status, 128 + SIGKILL) << alone.err;
  Orphans::wait_for_others({});
  std::filesystem::remove_all(place_.store);
  const Ran ended = launched({"--tree"}, [&](Perdure& perdure) {
    wait_for_all(perdure);
    ::kill(perdure.process(), SIGTERM);
  });
  EXPECT_EQ(ended.status, kGood) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("family@1"), HasSubstr(" of 4 processes is in the store")));
  EXPECT_EQ(Orphans::all(), std::set<pid_t>()) << "all were ended, and their numbers are free";
  Ran again;
  do {  // tests beside this one make processes, too: a number of it is free again soon
    again = launched({"--resume"}, [&](Perdure& perdure) {
      if (!perdure.says("family@1 goes on as process ")) return;
      ::kill(perdure.process(), SIGUSR1);
      EXPECT_TRUE(perdure.says("captured family@2"));
      const std::string said = perdure.err();
      ::kill(std::stoi(said.substr(said.find("goes on as process ") + 19)), SIGUSR1);
    });
  } while (again.err.find("(exists)") != std::string::npos);
  EXPECT_EQ(again.status, kGood) << again.err << "it judges itself";
  EXPECT_THAT(again.err, HasSubstr(" of 4 processes; it stood still")) << "what came back as several is captured so";
}

/// Tells it to end until it does so.
bool ends_without_a_capture(const Perdure& perdure) {
  return eventually("it ends without a capture", [&] {
    if (::kill(perdure.process(), SIGTERM) != 0 || perdure.says_now("without a capture")) return true;
    os::sleep_ns(1'100'000'000);  // wait: signals that come together within a second are one
    return false;
  });
}

/// Gives arguments for `perdure launch` of a shell's command, as a tree.
std::vector<std::string> launched_tree(const std::vector<std::string>& options, const std::string& script) {
  std::vector<std::string> words = {"launch", "--name", "tree"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "/bin/sh", "-c", script});
  return words;
}

TEST_F(Launch, OfATreeOfWhichOneLivesKnowsThatItIsOne) {
  const std::string script = "/bin/sleep 0.1 & mkdir " + place_.file("ready") + "; exec /bin/sleep 1000";
  Ran again;
  {
    Perdure perdure(place_, launched_tree({"--tree"}, script));
    wait_for_file(place_.file("ready"));
    // The shell has become a program that waits for nobody, and its only child has ended.
    const auto has_one_ended = [](pid_t root) {
      const auto children = process::children_of(root);
      return name_of_process(root) == "sleep" && children.size() == 1 && process::has_process_ended(children[0]);
    };
    EXPECT_TRUE(eventually("the child has ended", [&] {
      const auto all = process::children_of(perdure.process());
      return std::any_of(all.begin(), all.end(), has_one_ended);
    }));
    ::kill(perdure.process(), SIGTERM);
    const Ran ended = perdure.wait();
    ASSERT_EQ(ended.status, kGood) << ended.err;
  }
  do {  // tests beside this one make processes, too: a number of it is free again soon
    Perdure perdure(place_, launched_tree({"--resume"}, script));
    EXPECT_TRUE(eventually("it is captured again, or has ended", [&] {
      const std::string said = perdure.err();
      const bool captured = said.find("captured tree@2") != std::string::npos;
      if (const auto at = said.find("goes on as process "); at != std::string::npos) {
        EXPECT_FALSE(process::children_of(std::stoi(said.substr(at + 19))).empty()) << "the one that has ended";
        ::kill(perdure.process(), captured ? SIGINT : SIGUSR1);
      }
      if (said.find("cannot be captured") != std::string::npos) ::kill(perdure.process(), SIGINT);
      os::sleep_ns(20'000'000);  // wait: signals that come together are one
      return captured || perdure.has_ended();
    }));
    again = perdure.wait();
  } while (again.err.find("(exists)") != std::string::npos);
  EXPECT_THAT(again.err, HasSubstr("captured tree@2"));
}

TEST_F(Launch, OfATreeThatCannotBeCapturedEndsAllOfIt) {
  const std::string script = "/bin/sleep 1000 & mkdir " + place_.file("ready") + "; wait";
  Perdure perdure(place_, launched_tree({"--tree", "--set", "flush.give_up_after=0.1"}, script),
                  {"PERDURE_TEST_FAULTS=pwrite:" + place_.store + ":ENOSPC"});
  wait_for_file(place_.file("ready"));
  EXPECT_TRUE(ends_without_a_capture(perdure));
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, 128 + SIGTERM) << ran.err;
  EXPECT_TRUE(eventually("all of it has ended", [] {
    for (const pid_t one : Orphans::all()) (void)::waitpid(one, nullptr, WNOHANG);
    return Orphans::all().empty();
  }));
  for (const pid_t one : Orphans::all()) ::kill(one, SIGKILL);
}

TEST_F(Launch, GivesWhatItBringsBackTheAffinityThatIsConfigured) {
  const auto allowed = [](pid_t process) {
    cpu_set_t set;
    return ::sched_getaffinity(process, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  };
  if (allowed(0) < 2) GTEST_SKIP() << "masks need two processors";
  {
    LaunchedPatient launched(place_, {"--resume"});
    launched.wait_until_it_works();
    cpu_set_t one;
    CPU_ZERO(&one);
    cpu_set_t all;
    ::sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    for (const pid_t process : process::list_tree(launched.process()))
      if (name_of_process(process) == "patient") {
        ASSERT_EQ(::sched_setaffinity(process, sizeof one, &one), 0);
      }
    launched.signal(SIGTERM);
    ASSERT_EQ(launched.wait().status, kGood);
  }
  for (const bool reset : {false, true}) {
    SCOPED_TRACE(reset);
    Ran ran;
    do {
      Perdure perdure(place_, {"launch", "--resume", "--name", "patient", "--", PERDURE_PATIENT, place_.files, "7"},
                      {std::string("PERDURE_AFFINITY=") + (reset ? "reset" : "keep")});
      (void)perdure.says("goes on as process ");
      const std::string said = perdure.err();
      if (const auto at = said.find("goes on as process "); at != std::string::npos) {
        const pid_t back = std::stoi(said.substr(at + 19));
        EXPECT_EQ(allowed(back) > 1, reset);
        ::kill(back, SIGKILL);
      }
      ran = perdure.wait();
    } while (ran.err.find("(exists)") != std::string::npos);
    EXPECT_THAT(ran.err, HasSubstr("goes on as process "));
  }
}

TEST_F(Launch, BringsBackWhatRunsOnlyWhenItIsToldTwice) {
  LaunchedPatient launched(place_, {"--resume"});
  launched.wait_until_it_works();
  launched.signal(SIGTERM);
  ASSERT_EQ(launched.wait().status, kGood);
  Perdure first(place_, {"resume", "patient"});
  ASSERT_TRUE(first.says("goes on as process")) << first.err();
  const Ran busy = LaunchedPatient(place_, {"--resume"}).wait();
  EXPECT_THAT(busy.err, HasSubstr("--again"));
  const Ran told = LaunchedPatient(place_, {"--resume", "--again"}).wait();
  EXPECT_THAT(told.err, HasSubstr("its number is taken")) << "it got so far";
  touch(place_.file("end"));
  EXPECT_EQ(first.wait().status, Patient::kStatus);
  EXPECT_EQ(run_verb({"launch", "--again", "--", "true"}).status, kUsage);
}

TEST_F(Launch, CopiesPagesWhileItRunsWhereItIsTold) {
  LaunchedPatient launched(place_, {"--pre-copy", "--every", "0.2s"});
  launched.wait_for_text("captured patient@2");
  touch(place_.file("end"));
  EXPECT_EQ(launched.wait().status, Patient::kStatus);
  EXPECT_EQ(resumed(place_, {"patient@2"}).status, Patient::kStatus);
}

TEST_F(Launch, ThatIsKilledAnywhereLeavesTheProgramRunning) {
  for (const char* point : {"", "process_held", "process_copied", "process_released"}) {
    SCOPED_TRACE(point);
    ProcessPlace place;
    Perdure perdure(place, {"launch", "--", PERDURE_PATIENT, place.files, "7"},
                    {std::string("PERDURE_TEST_CRASH=") + point});
    wait_for_file(place.file("ready"));
    ::kill(perdure.process(), *point == '\0' ? SIGKILL : SIGUSR1);
    EXPECT_EQ(perdure.wait().status, -SIGKILL);
    touch(place.file("end"));
    int ended_well = 0;
    for (const pid_t process : Orphans::all())
      if (int how = 0; ::waitpid(process, &how, 0) == process && WIFEXITED(how) && WEXITSTATUS(how) == 7) ++ended_well;
    EXPECT_EQ(ended_well, 1) << "the others are guards, which end with 0";
  }
}

TEST_F(Launch, WhoseStoreIsFullTellsTheProgramToEndInTheEnd) {
  Perdure perdure(place_, {"launch", "--set", "flush.give_up_after=0.1", "--", PERDURE_PATIENT, place_.files, "7"},
                  {"PERDURE_TEST_FAULTS=pwrite:" + place_.store + ":ENOSPC"});
  wait_for_file(place_.file("ready"));
  ::kill(perdure.process(), SIGTERM);
  ASSERT_TRUE(perdure.says("perdure: "));
  os::sleep_ns(1'100'000'000);  // wait: signals that come together within a second are one
  ::kill(perdure.process(), SIGTERM);
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, 128 + SIGTERM) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("told to end (SIGTERM) without a capture"));
}

TEST_F(Launch, OfAProgramThatEndedWellWithoutACaptureDoesNotSayThatItIsDone) {
  const std::string script = "trap 'exit 0' TERM; mkdir " + place_.file("ready") + "; while :; do :; done";
  Perdure perdure(place_, {"launch", "--set", "flush.give_up_after=0.1", "--", "/bin/sh", "-c", script},
                  {"PERDURE_TEST_FAULTS=pwrite:" + place_.store + ":ENOSPC"});
  wait_for_file(place_.file("ready"));
  EXPECT_TRUE(ends_without_a_capture(perdure));
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, 128 + SIGTERM) << ran.err;
}

TEST_F(Launch, TellsTheStatusOfAProgramAlsoWhereSignalsCameTooLate) {
  Perdure perdure(place_, {"launch", "--", "/bin/sh", "-c", "mkdir " + place_.file("ready") + "; while :; do :; done"});
  wait_for_file(place_.file("ready"));
  ::kill(perdure.process(), SIGSTOP);  // so that all of it has happened when it looks
  for (const pid_t one : process::children_of(perdure.process()))
    if (name_of_process(one) != "perdure") ::kill(one, SIGKILL);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM}) ::kill(perdure.process(), signal);
  ::kill(perdure.process(), SIGCONT);
  EXPECT_EQ(perdure.wait().status, 128 + SIGKILL);
}

TEST_F(Launch, HearsOfTheProgramsEndWhereItsMakerIgnoresChildren) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);  // which programs inherit
  Perdure perdure(place_, {"launch", "--", "/bin/sh", "-c", "exit 3"});
  ::signal(SIGCHLD, before);
  const Ran ran = perdure.wait();
  EXPECT_EQ(ran.status, 3) << ran.err;
}

TEST_F(Launch, RefusesWhatCouldNeverBeCapturedBeforeItRuns) {
  const Ran missing = Perdure(place_, {"launch", "--", place_.file("missing")}).wait();
  EXPECT_EQ(missing.status, kCannot) << missing.err;
  std::ofstream(place_.file("old"), std::ios::binary) << std::string("\177ELF\1\1\1", 7) << std::string(100, '\0');
  std::filesystem::permissions(place_.file("old"), std::filesystem::perms(0700));
  const Ran old = Perdure(place_, {"launch", "--", place_.file("old")}).wait();
  EXPECT_EQ(old.status, kCannot);
  EXPECT_THAT(old.err, HasSubstr("it is a program of 32 bits"));
}

TEST_F(Launch, LeavesOutWhatItIsToldTo) {
  std::vector<std::string> command = {"launch", "--", PERDURE_PATIENT, place_.files, "7", "socket"};
  Perdure refused(place_, command);  // the socket is the program's own, and seen when it is captured
  wait_for_file(place_.file("ready"));
  ::kill(refused.process(), SIGUSR1);
  ASSERT_TRUE(refused.says("TCP")) << refused.err();
  touch(place_.file("end"));
  EXPECT_EQ(refused.wait().status, Patient::kStatus);
  ProcessPlace other;
  command[3] = other.files;
  command.insert(command.begin() + 1, {"--force-without", "fd:3"});
  Perdure forced(other, command);
  wait_for_file(other.file("ready"));
  ::kill(forced.process(), SIGUSR1);
  ASSERT_TRUE(forced.says("captured patient@1")) << forced.err();
  touch(other.file("end"));
  EXPECT_EQ(forced.wait().status, Patient::kStatus);
}

TEST_F(Launch, RefusesWrongArguments) {
  EXPECT_EQ(run_verb({"launch"}).status, kUsage);
  EXPECT_EQ(run_verb({"launch", "--"}).status, kUsage);
  EXPECT_EQ(run_verb({"launch", "true"}).status, kUsage);
  for (const char* every : {"", "x", "0", "-1s", "10 min", "nan", "1e99h"})
    EXPECT_EQ(run_verb({"launch", "--every", every, "--", "true"}).status, kUsage) << every;
}

TEST(TimesOfPeople, AreSecondsMinutesAndHours) {
  EXPECT_EQ(seconds_of("90"), 90);
  EXPECT_EQ(seconds_of("1.5s"), 1.5);
  EXPECT_EQ(seconds_of("10min"), 600);
  EXPECT_EQ(seconds_of("2h"), 7200);
  EXPECT_NE(time_text("2 h"), "");
}

}  // namespace
}  // namespace perdure::cli
