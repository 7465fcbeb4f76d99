// perdure capture captures real programs.
#include <gtest/gtest.h>

#include "cli/processes_testing.hpp"
#include "process/alone_testing.hpp"

namespace perdure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Capture, OfARunningProgramLeavesItAsItWasAndItCanBeBroughtBackLater) {
  ProcessPlace place;
  Patient patient(place);
  const std::string before = view_of(patient.process());
  const Ran text = Perdure(place, {"capture", patient.number()}).wait();
  EXPECT_EQ(text.status, kGood) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("patient@1: process " + patient.number() + " with 3 threads"),
                              HasSubstr("it stood still for"), Not(HasSubstr("was ended"))));
  const Ran json = Perdure(place, {"capture", patient.number(), "--name", "mine", "--json"}).wait();
  EXPECT_EQ(json.status, kGood) << json.err;
  EXPECT_EQ(json.json()["version"], 1);
  EXPECT_EQ(json.json()["threads"], 3);
  EXPECT_EQ(json.json()["stopped"], false);
  EXPECT_EQ(view_of(patient.process()), before);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  const Ran again = resumed(place, {"mine"});
  EXPECT_EQ(again.status, Patient::kStatus) << again.err;
  EXPECT_THAT(again.err, HasSubstr("mine@1 goes on as process"));
}

TEST(Capture, ThatIsToStopItEndsItAndNothingOfItIsLost) {
  ProcessPlace place;
  Patient patient(place);
  const Ran ran = Perdure(place, {"capture", patient.number(), "--stop"}).wait();
  EXPECT_EQ(ran.status, kGood) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("and was ended"));
  EXPECT_EQ(patient.was_killed(), -SIGKILL);
  const std::string beats = patient.beats();
  touch(place.file("end"));
  EXPECT_EQ(resumed(place, {"patient@1"}).status, Patient::kStatus);
  const std::string all = patient.beats();
  EXPECT_TRUE(all.starts_with(beats)) << "it stood still until it was ended";
}

TEST(Capture, ThatCouldNotBeBroughtBackIsNoneAndTheProgramGoesOn) {
  ProcessPlace place;
  process::Alone child(process::takes_all_addresses);
  child.wait();
  for (const char* how : {"--stop", "--leave-running", "--tree", "--pre-copy"}) {
    const Ran refused = Perdure(place, {"capture", std::to_string(child.process()), "--name", "image", how}).wait();
    EXPECT_EQ(refused.status, kCannot) << how;
    EXPECT_THAT(refused.err, HasSubstr("it could not be brought back: its addresses leave no gap")) << how;
  }
  EXPECT_THAT(run_verb({"ls", place.store}).out, Not(HasSubstr("image")));
  EXPECT_EQ(child.tell_end(), 7) << "it goes on";
}

/// The proof of a capture fails by this fault, for this reason; how the capture is made.
struct Unproved {
  const char *fault, *why, *how;
};

class UnprovedCapture : public testing::TestWithParam<Unproved> {};

TEST_P(UnprovedCapture, IsNeverToldOfAndTheProgramGoesOnUntouched) {
  ProcessPlace place;
  Patient patient(place);
  const std::string before = view_of(patient.process());
  const Ran refused = Perdure(place, {"capture", patient.number(), "--name", "image", GetParam().how},
                              {std::string("PERDURE_TEST_FAULTS=") + GetParam().fault})
                          .wait();
  EXPECT_EQ(refused.status, kCannot) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr(GetParam().why));
  EXPECT_THAT(refused.out, Not(HasSubstr("in the store")));
  EXPECT_THAT(run_verb({"ls", place.store}).out, Not(HasSubstr("image")));
  EXPECT_EQ(resumed(place, {"image"}).status, kCannot) << "there is none";
  EXPECT_EQ(view_of(patient.process()), before);
  patient.works();
  const Ran good = Perdure(place, {"capture", patient.number(), "--name", "image"}).wait();
  EXPECT_EQ(good.status, kGood) << good.err;
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(resumed(place, {"image"}).status, Patient::kStatus);
}

constexpr const char *kRegisters = "set_registers:stand-in:EINVAL",
                     *kNoRegisters = "it could not be brought back: thread";
constexpr const char *kRecord = "read_record:image:EIO", *kNoRecord = "read its record as a resume does";

INSTANTIATE_TEST_SUITE_P(
    Ways, UnprovedCapture,
    testing::Values(Unproved{kRegisters, kNoRegisters, "--leave-running"}, Unproved{kRegisters, kNoRegisters, "--stop"},
                    Unproved{kRecord, kNoRecord, "--leave-running"}, Unproved{kRecord, kNoRecord, "--stop"}),
    [](const auto& one) {
      const bool stops = std::string_view(one.param.how) == "--stop";
      return std::string(one.param.fault == kRegisters ? "Registers" : "Record") + (stops ? "Stopped" : "Running");
    });

TEST(Capture, WithoutPlacesIsSmallerAndComesBack) {
  ProcessPlace place;
  Patient patient(place);
  const Ran keep = Perdure(place, {"capture", patient.number(), "--name", "image", "--json"}).wait();
  ASSERT_EQ(keep.status, kGood) << keep.err;
  const Ran none =
      Perdure(place, {"capture", patient.number(), "--name", "image", "--affinity", "none", "--json"}).wait();
  ASSERT_EQ(none.status, kGood) << none.err;
  EXPECT_LT(none.json()["record_bytes"], keep.json()["record_bytes"]) << "it says nothing of the machine";
  EXPECT_EQ(Perdure(place, {"capture", patient.number(), "--affinity", "cores"}).wait().status, kUsage);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  for (const char* mode : {"keep", "none"})
    EXPECT_EQ(resumed(place, {"image@2", "--affinity", mode}).status, Patient::kStatus) << mode;
}

TEST(Capture, IsACheckpointForAllOtherVerbs) {
  ProcessPlace place;
  Patient patient(place);
  for (int version = 1; version <= 3; ++version)
    ASSERT_EQ(Perdure(place, {"capture", patient.number(), "--name", "image"}).wait().status, kGood);
  EXPECT_THAT(run_verb({"ls", place.store}).out, HasSubstr("image"));
  const Ran show = run_verb({"show", "image@2", "--store", place.store, "--regions"});
  EXPECT_EQ(show.status, kGood) << show.err;
  EXPECT_THAT(show.out, AllOf(HasSubstr("process"), HasSubstr("pages_of_node_0")));
  EXPECT_EQ(run_verb({"verify", "image@2", "--store", place.store}).status, kGood);
  const Ran pruned = run_verb({"prune", "--store", place.store, "--keep-last", "1", "--yes"});
  EXPECT_EQ(pruned.status, kGood) << pruned.err << pruned.out;
  EXPECT_EQ(run_verb({"verify", place.store}).status, kGood);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(resumed(place, {"image"}).status, Patient::kStatus);
}

TEST(Capture, KeepsImagesFromOthers) {
  ProcessPlace place;
  Patient patient(place);
  ASSERT_EQ(Perdure(place, {"capture", patient.number()}).wait().status, kGood);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place.store))
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(entry.is_directory() ? 0700 : 0600)) << entry.path();
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

TEST(Capture, RefusesWrongArguments) {
  EXPECT_EQ(run_verb({"capture"}).status, kUsage);
  for (const char* number : {"x", "0", "-1", "4294967297", "1.5"})
    EXPECT_EQ(run_verb({"capture", number}).status, kUsage) << number;
  EXPECT_EQ(run_verb({"capture", "1", "--force-without", "7"}).status, kUsage);
  EXPECT_EQ(run_verb({"capture", "1", "--force-without", "fd:99999999999"}).status, kUsage);
  EXPECT_EQ(run_verb({"capture", "1", "--stop", "--leave-running"}).status, kUsage);
  EXPECT_EQ(run_verb({"capture", std::to_string(::getpid())}).status, kUsage) << "itself";
}

TEST(Capture, OfAProcessThatIsNotThereSaysSo) {
  ProcessPlace place;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const Ran ran = Perdure(place, {"capture", std::to_string(gone), "--json"}).wait();
  EXPECT_EQ(ran.status, kCannot);
  EXPECT_EQ(ran.json()["error"]["code"], "not-found") << ran.out;
  EXPECT_FALSE(std::filesystem::exists(place.store + "/process"));
}

TEST(Capture, OfAnotherUsersProcessIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr uid_t kNobody = 65534;
  ProcessPlace place;
  Patient patient(place);
  ProcessPlace theirs;
  std::filesystem::permissions(theirs.directory.path(), std::filesystem::perms(0777));
  const std::string before = view_of(patient.process());
  const Ran ran = Perdure(theirs, {"capture", patient.number()}, {}, kNobody).wait();
  if (ran.status == 127) GTEST_SKIP() << "other users cannot start what was built here";
  EXPECT_EQ(ran.status, kCannot) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("permission")) << ran.err;
  EXPECT_EQ(view_of(patient.process()), before);
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

TEST(Capture, NamesWhatStandsInTheWayAndTouchesNothing) {
  ProcessPlace place;
  Patient patient(place, {"socket"});
  const std::string before = view_of(patient.process());
  const Ran refused = Perdure(place, {"capture", patient.number()}).wait();
  EXPECT_EQ(refused.status, kCannot);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("TCP"), HasSubstr("--force-without fd:3")));
  EXPECT_EQ(view_of(patient.process()), before);
  const Ran forced = Perdure(place, {"capture", patient.number(), "--force-without", "fd:3"}).wait();
  EXPECT_EQ(forced.status, kGood) << forced.err;
  EXPECT_EQ(view_of(patient.process()), before);
  EXPECT_EQ(patient.end(), Patient::kStatus);
  EXPECT_EQ(resumed(place, {"patient"}).status, Patient::kStatus);
}

TEST(Capture, IntoAStoreThatIsFullFailsAndTheProgramGoesOn) {
  ProcessPlace place;
  Patient patient(place);
  const std::string before = view_of(patient.process());
  for (const char* how : {"--leave-running", "--stop"}) {
    const Ran full =
        Perdure(place, {"capture", patient.number(), "--name", "full", how, "--set", "flush.give_up_after=0.2"},
                {"PERDURE_TEST_FAULTS=pwrite:" + place.store + ":ENOSPC"})
            .wait();
    EXPECT_EQ(full.status, kCannot) << full.out;
    EXPECT_EQ(view_of(patient.process()), before);
  }
  patient.works();
  EXPECT_EQ(Perdure(place, {"capture", patient.number(), "--name", "full"}).wait().status, kGood);
  EXPECT_EQ(patient.end(), Patient::kStatus);
}

}  // namespace
}  // namespace perdure::cli
