// Tests tracked programs whose ranks begin different regions. All ranks learn which region it is and which ranks began
// it. A rank that waits for others learns which ranks do not come. No rank waits for ever.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "perdure/perdure_track.h"
#include "support/eventually.hpp"
#include "support/ranks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::automatic {
namespace {

using test_support::Rank;
using testing::AllOf;
using testing::HasSubstr;

/// An array of at least one element per rank; regions add to the first element.
class OneElement {
 public:
  OneElement(const Rank& rank, perdure_t* handle, const perdure_track_policy& policy, std::uint64_t elements)
      : values_(elements),
        extent_(static_cast<std::uint64_t>(rank.size) * elements),
        begin_(static_cast<std::uint64_t>(rank.rank) * elements),
        end_(begin_ + elements) {
    status_ = perdure_track_open(handle, &policy, &track_, nullptr, 0);
    const perdure_array array{"value", "i8", 1, &extent_, nullptr, 0, nullptr, nullptr};
    const perdure_box box{values_.data(), &begin_, &end_, nullptr};
    keep(perdure_track_array(track_, &array, &box, 1, &number_));
  }
  OneElement(const OneElement&) = delete;
  OneElement& operator=(const OneElement&) = delete;
  ~OneElement() { (void)perdure_track_close(&track_, nullptr, 0); }

  void start() { keep(perdure_track_start(track_)); }
  void region(const char* name) {
    const perdure_access uses[] = {perdure_reads_writes(number_)};
    int run = 0;
    keep(perdure_track_begin(track_, name, "test", uses, 1, &run));
    values_[0] += run;
    if (run != 0) keep(perdure_track_end(track_));
  }
  void tick() { keep(perdure_track_tick(track_)); }
  void trigger() { keep(perdure_track_trigger(track_)); }
  bool has_checkpoint() {
    perdure_track_info info{};
    keep(perdure_track_get_info(track_, &info));
    return info.checkpoints > 0;
  }
  bool good() const { return status_ == PERDURE_OK; }
  /// Returns the first failure.
  std::string said() const {
    return std::string(perdure_status_name(status_)) + ": " + perdure_track_error_text(track_);
  }

 private:
  void keep(perdure_status status) {
    if (status_ == PERDURE_OK) status_ = status;
  }
  std::vector<std::int64_t> values_;
  std::uint64_t extent_, begin_, end_;
  perdure_status status_ = PERDURE_OK;
  perdure_track_t* track_ = nullptr;
  int number_ = -1;
};

class RanksApart : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  RanksApart() : over_(new (shared()) std::atomic<int>(0)) {}
  ~RanksApart() override { ::munmap(over_, sizeof *over_); }

  /// Returns each rank's last message.
  std::vector<std::string> said(const perdure_track_policy& policy,
                                const std::function<void(const Rank&, OneElement&)>& body, const std::string& more = "",
                                std::uint64_t elements = 1) const {
    const std::string at = directory_.path();
    const std::string options = "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
                                "/file;tier.file.max_bytes=4MiB;" +
                                (more.empty() ? "tier.memory.max_bytes=4MiB" : more);
    test_support::RunOptions some;
    some.ranks = kRanks;
    const auto outcome = test_support::run_ranks(some, [&](const Rank& rank) {
      perdure_t* handle = rank.open(options);
      {
        OneElement program(rank, handle, policy, elements);
        body(rank, program);
        std::ofstream(at + "/said." + std::to_string(rank.rank)) << program.said();
      }
      ++*over_;
      (void)perdure_close(&handle);
      return 0;
    });
    EXPECT_TRUE(outcome.all(0)) << outcome.text();
    std::vector<std::string> all;
    for (int rank = 0; rank < kRanks; ++rank) {
      std::ostringstream text;
      text << std::ifstream(at + "/said." + std::to_string(rank)).rdbuf();
      all.push_back(text.str());
    }
    return all;
  }
  /// Waits as in the program's own receive, for a message that no rank sends.
  void wait_for_the_others(int of_them) const {
    EXPECT_TRUE(test_support::eventually("others end", [&] { return over_->load() >= of_them; }));
  }
  static perdure_track_policy policy(double patience_s) {
    perdure_track_policy made{};
    made.learns = 8;
    made.patience_s = patience_s;
    return made;
  }

 private:
  static void* shared() {
    return ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  test_support::TemporaryDirectory directory_;
  std::atomic<int>* over_;  // number of ranks that have ended
};

// All ranks come to the tick, so the difference is known at once.
TEST_F(RanksApart, AreToldTheFirstRegionThatOneOfThemAloneBegan) {
  const auto all = said(policy(0), [](const Rank& rank, OneElement& program) {
    program.start();
    for (int step = 0; program.good() && step < 20; ++step) {
      program.region("advance");
      if (rank.rank == 1 && step == 5) program.region("extra");
      program.region("correct");
      if (step % 3 == 0) program.tick();
    }
  });
  for (const std::string& text : all)
    EXPECT_THAT(text, AllOf(HasSubstr("mismatch: "), HasSubstr("rank 1: region 'extra' (number 12)"),
                            HasSubstr("ranks 0 and 2: region 'correct' (number 12)")));
}

TEST_F(RanksApart, AreToldWhoHasBegunNoFurtherRegion) {
  const auto all = said(policy(0), [](const Rank& rank, OneElement& program) {
    program.start();
    for (int step = 0; step < (rank.rank == 2 ? 7 : 6); ++step) program.region("advance");
    program.tick();
  });
  for (const std::string& text : all)
    EXPECT_THAT(text, AllOf(HasSubstr("rank 2: region 'advance' (number 7)"),
                            HasSubstr("ranks 0-1: a tick, last at region 'advance' (number 6), and no other")));
}

// Runs more regions than the history keeps one by one.
TEST_F(RanksApart, AreToldWhereTheyAreAfterManyRegions) {
  const auto all = said(policy(0), [](const Rank& rank, OneElement& program) {
    program.start();
    for (int step = 0; step < 2000; ++step) program.region("advance");
    if (rank.rank == 0) program.region("extra");
    program.tick();
  });
  for (const std::string& text : all)
    EXPECT_THAT(text, AllOf(HasSubstr("rank 0: a tick, last at region 'extra' (number 2001)"),
                            HasSubstr("ranks 1-2: a tick, last at region 'advance' (number 2000)")));
}

TEST_F(RanksApart, AreToldThatOneComesToACheckpointAndOthersToATick) {
  const auto all = said(policy(0), [](const Rank& rank, OneElement& program) {
    program.start();
    program.region("first");
    if (rank.rank == 0) program.trigger();
    for (int step = 0; program.good() && step < 40; ++step) {
      program.region("advance");
      program.tick();
    }
  });
  for (const std::string& text : all)
    EXPECT_THAT(text, AllOf(HasSubstr("rank 0: a checkpoint, last at region"), HasSubstr("ranks 1-2: a tick")));
}

// The other ranks wait in the program itself, where Perdure cannot see them.
TEST_F(RanksApart, WaitNoLongerThanTheyAreToldTo) {
  auto by_number = policy(1);
  by_number.every_regions = 10;
  const auto all = said(by_number, [this](const Rank& rank, OneElement& program) {
    program.start();
    for (int step = 0; program.good() && step < (rank.rank == 0 ? 200 : 5); ++step) program.region("advance");
    if (rank.rank != 0) wait_for_the_others(1);
  });
  EXPECT_THAT(all[0], AllOf(HasSubstr("timeout: "), HasSubstr("rank 0 has come; ranks 1-2 have not"),
                            HasSubstr("a checkpoint, last at region 'advance'")));
}

// The next meeting first completes the background copy, which is an exchange of its own.
TEST_F(RanksApart, WaitNoLongerBehindACopyOnWrite) {
  constexpr std::uint64_t kMany = 4U << 20U;  // of 8 bytes, so that the copy outlasts the checkpoint's call
  auto by_number = policy(1);
  by_number.every_regions = 10;
  const auto all = said(
      by_number,
      [this](const Rank& rank, OneElement& program) {
        program.start();
        for (int step = 0; program.good() && step < 200 && !program.has_checkpoint(); ++step) program.region("advance");
        if (rank.rank != 0) return wait_for_the_others(1);
        program.tick();
      },
      "capture.mode=cow;tier.memory.max_bytes=256MiB", kMany);
  EXPECT_THAT(all[0], AllOf(HasSubstr("timeout: "), HasSubstr("rank 0 has come; ranks 1-2 have not"),
                            HasSubstr("a tick, last at region 'advance'")));
}

TEST_F(RanksApart, HearOfWhoDoesNotStart) {
  const auto all = said(policy(1), [this](const Rank& rank, OneElement& program) {
    if (rank.rank == 1) return wait_for_the_others(2);
    program.start();
  });
  for (const int rank : {0, 2})
    EXPECT_THAT(
        all[static_cast<std::size_t>(rank)],
        AllOf(HasSubstr("timeout: "), HasSubstr("ranks 0 and 2 have come; rank 1 has not"), HasSubstr("the start")));
}

}  // namespace
}  // namespace perdure::automatic
