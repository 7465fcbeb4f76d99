// Tests checkpoints that are larger than all tiers together: chunks are flushed while others are captured, and their
// slots are reused. (docs/adr/0005)
#include <gtest/gtest.h>

#include <filesystem>

#include "scenario.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace perdure::test_support;

struct Shape {
  const char* name;
  const char* mode;
  const char* tiers;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class SmallTiers : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(
    Every, SmallTiers,
    ::testing::Values(
        Shape{"embedded_one_slot", "embedded", "tier.order=memory;tier.memory.max_bytes=2MiB"},
        Shape{"daemon_one_slot", "daemon", "tier.order=file;tier.file.max_bytes=128KiB"},
        Shape{"daemon_three_slots", "daemon", "tier.order=memory;tier.memory.max_bytes=6MiB"},
        Shape{"embedded_two_tiers", "embedded",
              "tier.order=memory,file;tier.memory.max_bytes=4MiB;tier.file.max_bytes=256KiB"},
        Shape{"daemon_segment_per_rank", "daemon", "tier.order=memory;tier.memory.max_bytes=6MiB;segment.per=rank"},
        Shape{"daemon_always", "daemon", "tier.order=memory;tier.memory.max_bytes=64MiB;flush.during_capture=always"}),
    [](const auto& shape) { return std::string(shape.param.name); });

Program program_in(const TemporaryDirectory& directory, const Shape& shape, const std::string& more = {}) {
  Program program{options_in(directory.path(), shape.mode,
                             std::string("retention.keep_last=2;checkpoint.timeout=60;") + shape.tiers + more)};
  program.words = 70000;  // five chunks
  program.restore_at_end = true;
  return program;
}

TEST_P(SmallTiers, ALargerCheckpointSucceedsComesBackAndLeavesACleanStore) {
  TemporaryDirectory directory;
  Program program = program_in(directory, GetParam());
  RunOptions run;
  run.ranks = 3;
  program.last = 3;
  auto outcome = run_ranks(run, [&](const Rank& rank) { return program.run(rank); });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  program.must_restore_at_least = 3;
  program.last = 5;
  outcome = run_ranks(run, [&](const Rank& rank) { return program.run(rank); });
  ASSERT_TRUE(outcome.all(0)) << outcome.text();
  stop_daemons(directory.path());
  expect_clean_store(directory.path() + "/store", "app", {4, 5});
}

}  // namespace
