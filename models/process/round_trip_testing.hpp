#pragma once
// For tests: captures programs at a seeded moment, kills them and resumes them. Each writes one line at its end.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "os/system.hpp"
#include "process/captured_testing.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::process {

inline std::string text_in(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

/// Cuts files that it had open for writing back to their sizes: the resumed program writes the rest again.
inline void cut_back_files(const ProcessImage& image) {
  for (const OpenFile& file : image.open_files.files)
    if (const auto* named = std::get_if<NamedFile>(&file.what);
        named != nullptr && (file.flags & O_ACCMODE) != O_RDONLY)
      if (std::error_code error; std::filesystem::is_regular_file(named->path, error))
        std::filesystem::resize_file(named->path, named->size, error);
}

/// A program continues from its capture until it is killed, and may remove a named file meanwhile.
inline bool has_lost_a_file(const ProcessImage& image) {
  return std::ranges::any_of(image.open_files.files, [](const OpenFile& file) {
    const auto* named = std::get_if<NamedFile>(&file.what);
    std::error_code error;
    return named != nullptr && !std::filesystem::exists(named->path, error);
  });
}

/// The outcome of one round trip.
enum class RoundTrip { resumed, over_before, failed };

/// Tests a program with the same output in each run.
class RoundTripper {
 public:
  explicit RoundTripper(std::vector<std::string> command) : command_(std::move(command)) {
    const std::uint64_t begun = os::monotonic_ns();
    Program program(command_, here_ / "undisturbed");
    status_ = program.end();
    takes_ns_ = os::monotonic_ns() - begun;
    expected_ = text_in(here_ / "undisturbed");
  }
  int status() const { return status_; }
  const std::string& expected() const { return expected_; }

  /// Captures it at a seeded moment. Captures just before, which are discarded, also interrupt its waits. If it cannot
  /// be captured now, for example because it has a child, tries again.
  RoundTrip go(std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    Program program(command_, here_ / "output");
    std::this_thread::sleep_for(std::chrono::nanoseconds(rng() % takes_ns_));  // wait: a drawn moment
    for (auto before = rng() % 3; before > 0; --before) {
      (void)capture_to_memory(program.process());
      std::this_thread::sleep_for(std::chrono::microseconds(rng() % 3000));  // wait: a drawn moment
    }
    auto captured = capture_to_memory(program.process());
    while (!captured && captured.error().code == PERDURE_UNSUPPORTED && may_be_refused) {
      std::this_thread::sleep_for(std::chrono::microseconds(rng() % 1000));  // wait: a drawn moment
      captured = capture_to_memory(program.process());
    }
    if (!captured) {
      EXPECT_EQ(captured.error().code, PERDURE_NOT_FOUND) << captured.error().text();
      return captured.error().code == PERDURE_NOT_FOUND ? RoundTrip::over_before : RoundTrip::failed;
    }
    ::kill(program.process(), SIGKILL);
    if (program.end() != -SIGKILL) return RoundTrip::over_before;
    cut_back_files(captured->image);
    const auto again = resume_from_memory(*captured, 4096 << rng() % 10);
    if (!again && again.error().code == PERDURE_NOT_FOUND && has_lost_a_file(captured->image))
      return RoundTrip::over_before;
    EXPECT_TRUE(again) << (again ? "" : again.error().text());
    if (!again) return RoundTrip::failed;
    program.lives_again();
    EXPECT_EQ(program.end(), status_);
    EXPECT_EQ(text_in(here_ / "output"), expected_);
    return RoundTrip::resumed;
  }
  /// Captures it several times while it continues.
  void go_on(int captures) {
    Program program(command_, here_ / "output");
    for (int times = 0; times < captures; ++times) {
      const auto part_ns = takes_ns_ / static_cast<std::uint64_t>(captures + 1);
      std::this_thread::sleep_for(std::chrono::nanoseconds(part_ns));  // wait: it goes on between two captures
      if (!capture_to_memory(program.process()) && !may_be_refused) break;
    }
    EXPECT_EQ(program.end(), status_);
    EXPECT_EQ(text_in(here_ / "output"), expected_);
  }
  bool may_be_refused = false;

 private:
  test_support::TemporaryDirectory here_;
  std::vector<std::string> command_;
  std::string expected_;
  std::uint64_t takes_ns_ = 1;
  int status_ = 0;
};

/// Runs all seeds of a program; only `usually` of them outside of a campaign.
inline void expect_round_trips(RoundTripper& program, std::uint64_t usually = 1) {
  ASSERT_EQ(program.status(), 0) << program.expected();
  ASSERT_THAT(program.expected(), testing::HasSubstr("wrong 0"));
  const auto seeds = test_support::many_seeds(1, usually, 1, 20);
  std::uint64_t resumed = 0;
  // At a seed's moment the program may have ended already. At least one of the first seeds must meet it.
  for (std::uint64_t seed = seeds.begin; seed < seeds.end || (resumed == 0 && seed < seeds.begin + 20); ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    if (program.go(seed) == RoundTrip::resumed) ++resumed;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(resumed, 0U) << "none was captured before its end";
}

}  // namespace perdure::process
