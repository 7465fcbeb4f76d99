// Tests which pages are written, and how. tests/numa tests their nodes on machines with several; here there may be one.
#include "process/page_writer.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kPagesOfHuge = kHugePageBytes / kPageBytes;

Placement to_nodes(std::map<std::uint32_t, std::uint32_t> nodes) {
  Placement placement;
  placement.of_memory = true;
  placement.nodes = std::move(nodes);
  return placement;
}

TEST(HugeBlocks, HaveHalfOfTheirPagesOnOneNode) {
  const std::uint64_t at = 64 * kHugePageBytes, next = at + kHugePageBytes;
  ProcessImage image;
  image.pages = {{0, {{at, kPagesOfHuge / 2}}}, {1, {{next, kPagesOfHuge / 2 - 1}}}};
  EXPECT_THAT(huge_blocks(image, to_nodes({{0, 0}, {1, 1}})), ElementsAre(at));
  image.pages[0].runs[0].pages += kPagesOfHuge / 2 + 1;  // one page of the other block
  EXPECT_THAT(huge_blocks(image, to_nodes({{0, 0}, {1, 1}})), ElementsAre(at)) << "of two nodes";
  image.pages[1].runs[0] = {next + kPageBytes, kPagesOfHuge / 2 - 1};
  EXPECT_THAT(huge_blocks(image, to_nodes({{0, 3}, {1, 3}})), ElementsAre(at, next)) << "that are one here";
}

/// Memory of this process, written as if it were another's.
class OwnMemory {
 public:
  explicit OwnMemory(std::uint64_t pages) : bytes_(pages * kPageBytes) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~OwnMemory() { ::munmap(memory_, bytes_); }
  std::uint64_t page(std::uint64_t number) const {
    return reinterpret_cast<std::uint64_t>(memory_) + number * kPageBytes;
  }
  bool has(const std::vector<std::byte>& bytes) const { return std::memcmp(memory_, bytes.data(), bytes.size()) == 0; }

 private:
  std::uint64_t bytes_;
  void* memory_ = nullptr;
};

struct Written {
  bool whole = false, refused = false;
  std::vector<bool> huge;  ///< what the process was told
};

/// Writes pages [0, 4) and [12, 16) of node 0, and those between of node 1, in two pieces.
Written write_sixteen(const MachineImage& here, bool of_memory, const MachineImage& then) {
  constexpr std::uint64_t kPages = 16;
  const OwnMemory memory(kPages);
  ProcessImage image;
  image.machine = then;
  image.pages = {{0, {{memory.page(0), 4}, {memory.page(12), 4}}}, {1, {{memory.page(4), 8}}}};
  Placement placement = to_nodes({{0, 0}, {1, here.numbers.back()}});
  placement.of_memory = of_memory;
  std::vector<std::byte> all(kPages * kPageBytes), stored;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i / 7 + i % 13);
  for (const auto& node : image.pages)
    for (const auto& run : node.runs) {
      const auto part = base::ConstByteSpan(all).subspan(run.begin - memory.page(0), run.pages * kPageBytes);
      stored.insert(stored.end(), part.begin(), part.end());
    }
  PageWriter writer(image, placement, here);
  Written written;
  const auto allow = [&](bool allowed) {
    written.huge.push_back(allowed);
    return base::Status();
  };
  const std::uint64_t piece = 5 * kPageBytes + 100;
  for (std::uint64_t at = 0; at < stored.size(); at += piece) {
    const std::uint64_t length = std::min<std::uint64_t>(piece, stored.size() - at);
    const auto done = writer.write(::getpid(), at, base::ConstByteSpan(stored).subspan(at, length), allow);
    EXPECT_TRUE(done) << done.error().text();
  }
  EXPECT_TRUE(writer.end(allow));
  written.whole = memory.has(all);
  written.refused = writer.refused();
  return written;
}

Written write_sixteen(const MachineImage& here, bool of_memory) { return write_sixteen(here, of_memory, here); }

TEST(PageWriters, WriteAllOfThem) {
  const auto written = write_sixteen({{0}, {{{{{0}}, 0}}, {}}}, true);
  EXPECT_TRUE(written.whole);
  EXPECT_FALSE(written.refused);
  EXPECT_THAT(written.huge, IsEmpty()) << "where there is one node the kernel chooses";
}

TEST(PageWriters, WriteThemWhereTheSystemRefusesANode) {
  const MachineImage two{{0, 900}, {{{{{0}}, 0}, {{{1}}, 0}}, {}}};
  const auto written = write_sixteen(two, true);
  EXPECT_TRUE(written.whole);
  EXPECT_TRUE(written.refused);
  EXPECT_THAT(written.huge, ElementsAre(false, true)) << "none of these pages is part of a huge one";
  EXPECT_THAT(write_sixteen(two, false).huge, IsEmpty());
  EXPECT_TRUE(write_sixteen(two, false).whole);
}

TEST(PageWriters, WriteWhereverTheSystemPutsThemWhatWasCapturedWithoutPlaces) {
  const MachineImage two{{0, 900}, {{{{{0}}, 0}, {{{1}}, 0}}, {}}};
  const auto written = write_sixteen(two, true, {});
  EXPECT_TRUE(written.whole);
  EXPECT_FALSE(written.refused) << "no node was asked for";
}

TEST(PageWriters, SayWhichPagesCannotBeWritten) {
  ProcessImage image;
  image.pages = {{0, {{kPageBytes, 1}}}};
  PageWriter writer(image, to_nodes({}), {});
  const std::vector<std::byte> page(kPageBytes);
  const auto done = writer.write(::getpid(), 0, page, [](bool) { return base::Status(); });
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(), testing::HasSubstr("write its memory at 0x1000"));
}

}  // namespace
}  // namespace perdure::process
