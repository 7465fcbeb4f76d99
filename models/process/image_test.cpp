// Tests images that somebody else wrote: a reader may get them from anybody.
#include <gmock/gmock.h>

#include "process/image_target.hpp"
#include "process/new_process.hpp"
#include "process/pages.hpp"

namespace perdure::process {
namespace {

ImageTarget target() {
  return ImageTarget([](ProcessImage&, Operations&) { return base::Status(); });
}

segment::RegionEntry opaque(std::int32_t id, std::uint64_t bytes) { return {id, 1, bytes, segment::EntryKind::opaque}; }

TEST(Images, WithoutARecordAreNone) {
  auto here = target();
  EXPECT_EQ(here.accept({}).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(here.accept({opaque(0, 0), opaque(1, 4096)}).error().code, PERDURE_MISMATCH) << "an empty one";
  EXPECT_EQ(here.accept({opaque(1, 10)}).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(here.accept({{0, 1, 10, segment::EntryKind::memory}}).error().code, PERDURE_MISMATCH);
  EXPECT_EQ(here.accept({opaque(0, 1ULL << 40)}).error().code, PERDURE_MISMATCH);
}

TEST(Images, WhoseRecordIsAnythingElseAreRefused) {
  auto here = target();
  const std::vector<std::byte> bytes(64, std::byte{7});
  ASSERT_TRUE(here.accept({opaque(0, bytes.size())}));
  EXPECT_EQ(here.write({0, bytes.size()}, bytes).error().code, PERDURE_UNSUPPORTED) << "of another format";
  std::vector<std::byte> cut = {std::byte{kImageFormat}, {}, {}, {}, std::byte{1}};
  EXPECT_EQ(decode_image(cut, "image").error().code, PERDURE_CORRUPT);
}

TEST(Images, OfThreadsOnProcessorsThatNoMachineHasAreWrong) {
  ThreadImage thread;
  thread.number = 1;
  thread.registers.resize(sizeof(Registers));
  thread.cpus = {0, 65535};
  EXPECT_EQ(thread.wrong(), "");
  thread.cpus = {0, 4'000'000'000U};
  EXPECT_NE(thread.wrong(), "") << "their masks would take all memory";
}

TEST(Gaps, AreTheFirstWithRoom) {
  EXPECT_EQ(find_gap({}, 0x10000, 0x1000), 0x10000U);
  EXPECT_EQ(find_gap({{0x30000, 0x40000}, {0x10000, 0x28000}}, 0x10000, 0x8000), 0x28000U);
  EXPECT_EQ(find_gap({{0x30000, 0x40000}, {0x10000, 0x28000}}, 0x10000, 0x9000), 0x40000U);
  EXPECT_EQ(find_gap({{0x10000, 0x50000}, {0x20000, 0x30000}}, 0x10000, 0x1000), 0x50000U) << "one in the other";
  EXPECT_EQ(find_gap({{0x10000, kAddressEnd}}, 0x10000, 0x1000), 0U);
}

TEST(NearRuns, AreJoinedWithinTheirMappingOnly) {
  const std::vector<MemoryMap> maps = {{0x10000, 0x20000}, {0x20000, 0x40000}};
  const std::vector<PageRun> runs = {{0x10000, 1}, {0x12000, 1}, {0x1f000, 1}, {0x20000, 1}, {0x30000, 2}};
  EXPECT_EQ(join_near_runs(runs, maps, 5), runs);
  EXPECT_EQ(join_near_runs(runs, maps, 4),
            (std::vector<PageRun>{{0x10000, 3}, {0x1f000, 1}, {0x20000, 1}, {0x30000, 2}}));
  EXPECT_EQ(join_near_runs(runs, maps, 2), (std::vector<PageRun>{{0x10000, 16}, {0x20000, 18}}));
}

}  // namespace
}  // namespace perdure::process
