// Kills `perdure resume` with -9, or damages the image: the program does not run, and no part of it is left.
#include <gtest/gtest.h>

#include <random>

#include "cli/processes_testing.hpp"
#include "os/crash_point.hpp"
#include "support/sanitized.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;

/// Has a captured program that has ended.
class ResumeThatFails : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Perdure(place_, {"capture", patient_.number(), "--stop"}).wait().status, kGood);
    ASSERT_EQ(patient_.was_killed(), -SIGKILL);
    beats_ = patient_.beats();
  }
  void expect_nothing_ran() {
    EXPECT_EQ(patient_.beats(), beats_);
    EXPECT_EQ(Orphans::all(), std::set<pid_t>());
  }
  void expect_it_can_be_brought_back() {
    touch(place_.file("end"));
    const Ran ran = resumed(place_, {"patient"});
    EXPECT_EQ(ran.status, Patient::kStatus) << ran.err;
  }
  Orphans orphans_;
  ProcessPlace place_;
  Patient patient_{place_};
  std::string beats_;
};

TEST_F(ResumeThatFails, KilledAtAnyStepLeavesNoProcess) {
  int points = 0;
  for (const auto& point : os::kToolCrashPoints) {
    if (!point.name.starts_with("resume_") || point.name == "resume_released") continue;
    SCOPED_TRACE(point.name);
    ++points;
    const Ran killed = resumed(place_, {"patient"}, {"PERDURE_TEST_CRASH=" + std::string(point.name)});
    EXPECT_EQ(killed.status, -SIGKILL) << killed.err;
    EXPECT_EQ(Orphans::wait_for_others({}), 1) << "the guard ends by itself, and the new process does not";
    expect_nothing_ran();
  }
  EXPECT_EQ(points, 4);
  expect_it_can_be_brought_back();
}

TEST_F(ResumeThatFails, KilledWhenTheProcessIsReleasedItGoesOn) {
  const Ran killed = resumed(place_, {"patient", "--detach"}, {"PERDURE_TEST_CRASH=resume_released"});
  ASSERT_EQ(killed.status, -SIGKILL) << killed.err;
  patient_.lives_again();
  patient_.works();
  EXPECT_EQ(patient_.end(), Patient::kStatus);
  Orphans::wait_for_others({});
}

/// Returns the file of the image's only segment.
std::string segment_in(const std::string& store) {
  std::string found;
  for (const auto& entry : fs::recursive_directory_iterator(store))
    if (entry.is_regular_file() && entry.path().extension() == ".pds") found = entry.path();
  EXPECT_NE(found, "");
  return found;
}

class DamagedImage : public ResumeThatFails {
 protected:
  void SetUp() override {
    ResumeThatFails::SetUp();
    fs::copy(place_.store, place_.directory / "whole", fs::copy_options::recursive);
  }
  /// Restores the store as it was, with an empty node.
  void restore_store() {
    fs::remove_all(place_.store);
    fs::copy(place_.directory / "whole", place_.store, fs::copy_options::recursive);
    fs::remove_all(place_.node);
    fs::remove_all(place_.node + "-files");
  }
  void expect_refused() {
    const Ran ran = resumed(place_, {"patient"});
    EXPECT_EQ(ran.status, kCannot) << ran.err;
    Orphans::wait_for_others({});
    expect_nothing_ran();
  }
};

TEST_F(DamagedImage, WithAFlippedByteAnywhereIsRefusedBeforeItsFirstInstruction) {
  const std::string content = content_of(segment_in(place_.store));
  const std::uint64_t record = content.find(PERDURE_PATIENT);
  ASSERT_NE(record, std::string::npos) << "the record has the arguments";
  std::mt19937_64 rng(16);
  std::vector<std::uint64_t> places = {record, content.rfind(PERDURE_PATIENT), content.size() / 2};
  // Between the manifest and the end of its page there are zeros that a resume does not read (perdure verify does).
  while (places.size() < test_support::unless_sanitized(11U, 5U))
    if (const std::uint64_t at = rng() % content.size(); content[at] != 0) places.push_back(at);
  for (const std::uint64_t at : places) {
    SCOPED_TRACE(at);
    restore_store();
    flip_byte(segment_in(place_.store), at, static_cast<unsigned char>(1U << rng() % 8));
    expect_refused();
  }
  restore_store();
  expect_it_can_be_brought_back();
}

TEST_F(DamagedImage, ThatWasCutOffIsRefused) {
  const std::uint64_t bytes = fs::file_size(segment_in(place_.store));
  for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{4096}, bytes / 2, bytes - 1}) {
    SCOPED_TRACE(left);
    restore_store();
    fs::resize_file(segment_in(place_.store), left);
    expect_refused();
  }
}

}  // namespace
}  // namespace perdure::cli
