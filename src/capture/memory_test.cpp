// Tests registered memory as source and target, and another source beside it.
#include "capture/memory.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "capture/generated_testing.hpp"

namespace perdure::capture {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<std::byte>(i * 7);
    EXPECT_TRUE(table_.protect({2, memory_.data() + 500, 4, 25}));  // 100 bytes, second in the capture
    EXPECT_TRUE(table_.protect({1, memory_.data(), 1, 50}));
    EXPECT_TRUE(table_.protect({6, nullptr, 8, 0}));
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(1000);
  RegionTable table_;
};

std::vector<std::byte> read_all(Source& source, std::uint64_t chunk_bytes) {
  const auto described = source.describe().value();
  std::vector<std::byte> bytes;
  for (const auto& range : Source::cut(described, chunk_bytes)) {
    EXPECT_EQ(bytes.size(), range.begin);
    EXPECT_TRUE(source.read(range, [&](base::ConstByteSpan piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return base::Status();
    }));
  }
  EXPECT_EQ(bytes.size(), described.bytes);
  return bytes;
}

TEST_F(Memory, IsReadWhereItIsAndNotCopied) {
  MemorySource source(table_);
  std::vector<const std::byte*> addresses;
  ASSERT_TRUE(source.read({40, 20}, [&](base::ConstByteSpan piece) {
    addresses.push_back(piece.data());
    return base::Status();
  }));
  EXPECT_EQ(addresses, (std::vector<const std::byte*>{memory_.data() + 40, memory_.data() + 500}));
}

TEST_F(Memory, IsTheSameHoweverItIsCut) {
  MemorySource source(table_);
  const auto whole = read_all(source, 1000);
  ASSERT_EQ(whole.size(), 150U);
  for (std::uint64_t chunk = 1; chunk < 160; ++chunk) EXPECT_EQ(read_all(source, chunk), whole) << chunk;
}

TEST_F(Memory, ReadingEndsWithTheFirstError) {
  MemorySource source(table_);
  int pieces = 0;
  const auto status = source.read({0, 150}, [&](base::ConstByteSpan) -> base::Status {
    ++pieces;
    return base::fail(PERDURE_NO_SPACE, "slot", "full");
  });
  EXPECT_EQ(status.error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(pieces, 1);
}

TEST_F(Memory, AsATargetNeedsTheWantedRegionsOnly) {
  const auto stored = table_.entries();
  MemoryTarget all(table_, {});
  EXPECT_EQ(all.accept(stored).value(), (std::vector<ChunkRange>{{0, 50}, {50, 100}}));
  MemoryTarget second(table_, std::vector<std::int32_t>{2});
  EXPECT_EQ(second.accept(stored).value(), (std::vector<ChunkRange>{{50, 100}}));
  const auto spans = second.memory({45, 10});
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].address, nullptr);
  EXPECT_EQ(spans[1].address, memory_.data() + 500);
  const auto before = memory_;
  std::vector<std::byte> bytes(10, std::byte{99});
  ASSERT_TRUE(second.write({45, 10}, bytes));
  EXPECT_EQ(memory_[504], std::byte{99});
  EXPECT_EQ(memory_[505], before[505]);
  EXPECT_EQ(memory_[45], before[45]) << "region 1 is not wanted";
}

TEST_F(Memory, AsATargetRefusesWhatWasNotMemory) {
  auto stored = table_.entries();
  stored[1].kind = segment::EntryKind::opaque;
  MemoryTarget target(table_, {});
  const auto refused = target.accept(stored);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_MISMATCH);
  EXPECT_NE(refused.error().text().find("region 2: it is protected as memory of one rank, and was stored as opaque"),
            std::string::npos)
      << refused.error().text();
  MemoryTarget first(table_, std::vector<std::int32_t>{1});
  EXPECT_TRUE(first.accept(stored)) << "what is not wanted may be anything";
}

TEST_F(Memory, AsATargetIsFilledByNameAndSaysWhatIsAbsent) {
  ASSERT_TRUE(table_.set_label(1, {"x", "", ""}));
  ASSERT_TRUE(table_.set_label(2, {"y", "", ""}));
  auto stored = table_.entries();
  std::swap(stored[0].id, stored[1].id);
  MemoryTarget swapped(table_, {});
  EXPECT_TRUE(swapped.accept(stored));
  EXPECT_EQ(swapped.direct(), (std::vector<std::int32_t>{1, 2, 6})) << "whatever their numbers were";
  stored.erase(stored.begin());
  EXPECT_EQ(MemoryTarget(table_, {}).accept(stored).error().code, PERDURE_MISMATCH);
  ASSERT_TRUE(table_.set_optional(1, true));
  MemoryTarget target(table_, {});
  EXPECT_EQ(target.accept(stored).value(), (std::vector<ChunkRange>{{0, 100}}));
  EXPECT_EQ(target.absent(), std::vector<std::int32_t>{1});
  table_.note_restored(target.wanted().ids, target.absent());
  EXPECT_FALSE(table_.find(1)->restored);
  EXPECT_TRUE(table_.find(2)->restored);
}

TEST_F(Memory, AsATargetOfWhatOtherRanksWroteHasNothingOfItsOwn) {
  ASSERT_TRUE(table_.set_optional(1, true));
  MemoryTarget target(table_, std::vector<std::int32_t>{1, 7});
  target.take_all_elsewhere();
  EXPECT_EQ(target.absent(), std::vector<std::int32_t>{1});
  EXPECT_EQ(target.elsewhere(), std::vector<std::int32_t>{7}) << "which says that it is not protected";
}

TEST_F(Memory, AsATargetMayBeAskedForTheSameRegionTwice) {
  EXPECT_TRUE(MemoryTarget(table_, std::vector<std::int32_t>{2, 1, 2}).accept(table_.entries()));
}

TEST_F(Memory, AttributesDoNotKeepMemoryFromBeingRestored) {
  auto stored = table_.entries();
  stored[0].attributes = {{"units", std::string("kelvin")}};
  EXPECT_TRUE(MemoryTarget(table_, {}).accept(stored));
}

TEST(Generated, IsASourceLikeAnyOther) {
  GeneratedSource source(3333, 5);
  const auto whole = read_all(source, 1 << 20);
  for (std::uint64_t chunk : {1U, 999U, 1000U, 1001U, 3332U}) EXPECT_EQ(read_all(source, chunk), whole) << chunk;
  for (std::uint64_t i = 0; i < whole.size(); ++i) ASSERT_EQ(whole[i], GeneratedSource::byte_at(5, i));
}

}  // namespace
}  // namespace perdure::capture
