// Tests damage that only one reading saw, segments that contradict each other, and chunks that are too large to be
// kept.
#include <gtest/gtest.h>

#include "reader/written_testing.hpp"
#include "support/installed_hooks.hpp"

namespace perdure::reader {
namespace {

const segment::VersionId kReadTwice{"heat", 3, {1'700'000'000'000'000'000, 5}};

/// Makes one array of so many bytes, written by one rank in one chunk.
WrittenRank one_chunk(std::uint64_t bytes) {
  WrittenRank rank;
  const auto whole = array::whole(std::span(&bytes, 1), 1, "test").value();
  rank.add(5, segment::ArrayEntry{{}, array::ElementType::parse("u1", "test").value(), {}, whole, {whole}});
  rank.cut(bytes);
  return rank;
}

/// Spoils some readings of chunks: number `first` and the next `count` - 1.
class Spoiling : public os::Hooks {
 public:
  Spoiling(unsigned first, unsigned count) : first_(first), count_(count) {}
  void after(const os::Operation& operation, int) override {
    if (std::string(operation.call) != "pread" || operation.offset != segment::kHeaderBytes) return;
    if (++readings_ >= first_ && readings_ < first_ + count_) operation.target[0] ^= std::byte{1};
  }
  unsigned readings() const { return readings_; }

 private:
  unsigned first_, count_, readings_ = 0;
};

TEST(SecondReadings, MakeGoodWhatWasDamagedOnlyOnTheWay) {
  for (const std::uint64_t kept : {1000, 10})  // kept, and too large
    for (const unsigned spoilt : {1, 2}) {
      WrittenStore written;
      written.write(kReadTwice, {one_chunk(100)}, 1);
      auto content = written.open("heat", 3, kept).value();
      std::vector<std::byte> memory(100);
      Spoiling spoiling(1, spoilt);
      const test_support::InstalledHooks installed(spoiling);
      const auto outcome = content.read(*content.array(5), content.array(5)->whole, memory);
      EXPECT_GE(spoiling.readings(), 2U);
      EXPECT_EQ(outcome ? PERDURE_OK : outcome.error().code, spoilt == 1 ? PERDURE_OK : PERDURE_CORRUPT);
      if (outcome) {
        EXPECT_EQ(memory, contents(5, content.array(5)->whole, 1));
      }
    }
}

TEST(SecondReadings, OfAChunkThatIsTooLargeNoticeThatItChanges) {
  WrittenStore written;
  written.write(kReadTwice, {one_chunk(3 * base::MiB + 5)}, 1);
  auto content = written.open("heat", 3, 1000).value();
  const StoredArray& array = *content.array(5);
  std::vector<std::byte> memory(array.whole.elements());
  ASSERT_TRUE(content.read(array, array.whole, memory));
  EXPECT_EQ(memory, contents(5, array.whole, 1)) << "across its blocks";
  Spoiling spoiling(1, 1);
  const test_support::InstalledHooks installed(spoiling);
  memory.resize(1);
  array::Box first = array.whole;
  first.end[0] = 1;
  const auto outcome = content.read(array, first, memory);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().text().find("it changes while it is read"), std::string::npos);
  EXPECT_TRUE(content.read(array, first, memory)) << "read and verified anew";
}

TEST(SegmentsOfOneVersion, ThatContradictEachOtherAreRefused) {
  for (const auto& [first, second] : {std::pair(2U, 4U), std::pair(4U, 2U)}) {
    WrittenStore written;
    written.write(kReadTwice, std::vector<WrittenRank>(first, one_chunk(10)), 2, {0});
    written.write(kReadTwice, std::vector<WrittenRank>(second, one_chunk(10)), 2, {1});
    const auto content = written.open("heat", 3);
    ASSERT_FALSE(content);
    EXPECT_EQ(content.error().code, PERDURE_CORRUPT) << content.error().text();
  }
}

}  // namespace
}  // namespace perdure::reader
