// Memory and records make one capture, and come back each to its own target.
#include "capture/composite.hpp"

#include <gtest/gtest.h>

#include "capture/generated_testing.hpp"
#include "capture/memory.hpp"
#include "capture/record.hpp"

namespace perdure::capture {
namespace {

std::vector<std::byte> bytes_of(std::size_t length, unsigned seed) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 13 + seed);
  return bytes;
}

bool is_memory(const segment::RegionEntry& entry) { return entry.kind != segment::EntryKind::opaque; }
CompositeTarget::Part record_to(RecordTarget& target, std::int32_t id) {
  return {&target, [id](const segment::RegionEntry& entry) { return entry.id == id; }};
}

/// Two regions between two records. The first record is empty in some tests.
class Composite : public testing::Test {
 protected:
  Composite() {
    EXPECT_TRUE(table_.protect({1, memory_.data(), 1, 50}));
    EXPECT_TRUE(table_.protect({2, memory_.data() + 60, 4, 10}));
  }
  struct Stored {
    std::vector<segment::RegionEntry> entries;
    std::vector<std::byte> bytes;
  };
  Stored store(std::uint64_t chunk_bytes) {
    RecordSource first(first_), last(last_);
    MemorySource memory(table_);
    CompositeSource source({&first, &memory, &last});
    const auto described = source.describe().value();
    Stored stored{described.entries, {}};
    for (const auto& range : Source::cut(described, chunk_bytes)) {
      EXPECT_TRUE(source.read(range, [&](base::ConstByteSpan piece) {
        stored.bytes.insert(stored.bytes.end(), piece.begin(), piece.end());
        return base::Status();
      }));
      EXPECT_EQ(stored.bytes.size(), range.end());
    }
    EXPECT_EQ(stored.bytes.size(), described.bytes);
    return stored;
  }
  // As VersionReader does: to memory where the target has it, whole chunks otherwise.
  static void restore(const Stored& stored, std::uint64_t chunk_bytes, Target& target) {
    const auto needed = target.accept(stored.entries);
    ASSERT_TRUE(needed) << needed.error().text();
    for (const auto& range : cut(stored.bytes.size(), chunk_bytes)) {
      const auto overlaps = [&](const ChunkRange& one) { return one.begin < range.end() && range.begin < one.end(); };
      if (std::ranges::none_of(*needed, overlaps)) continue;
      const auto bytes = base::ConstByteSpan(stored.bytes).subspan(range.begin, range.length);
      const auto spans = target.memory(range);
      std::uint64_t copied = 0;
      for (const auto& span : spans) {
        if (span.address != nullptr) std::ranges::copy(bytes.subspan(copied, span.length), span.address);
        copied += span.length;
      }
      if (spans.empty()) {
        ASSERT_TRUE(target.write(range, bytes));
      }
      EXPECT_TRUE(spans.empty() || copied == range.length);
    }
  }
  std::vector<std::byte> memory_ = bytes_of(100, 1);
  RegionTable table_;
  Record first_{1000, bytes_of(33, 2), {{"what", std::string("files")}}}, last_{2000, bytes_of(70, 3)};
};

TEST_F(Composite, HasTheEntriesOfItsPartsInTheirOrder) {
  const auto stored = store(1000);
  std::vector<std::int32_t> numbers;
  for (const auto& entry : stored.entries) numbers.push_back(entry.id);
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{1000, 1, 2, 2000}));
  EXPECT_EQ(stored.entries[0], first_.entry());
  EXPECT_EQ(stored.bytes.size(), 33U + 50 + 40 + 70);
}

TEST_F(Composite, ComesBackByEntryHoweverItIsCut) {
  for (const bool is_empty : {false, true}) {
    if (is_empty) first_.bytes.clear();
    const auto whole = memory_;
    for (std::uint64_t chunk = 1; chunk < 200; ++chunk) {
      const auto stored = store(chunk);
      std::fill(memory_.begin(), memory_.end(), std::byte{0});
      RecordTarget first(1000), last(1000);
      MemoryTarget memory(table_, std::nullopt);
      CompositeTarget target({{&memory, is_memory}, record_to(last, 2000), record_to(first, 1000)});
      restore(stored, chunk, target);
      EXPECT_EQ(first.record().bytes, first_.bytes) << chunk;
      EXPECT_EQ(first.record().attributes, first_.attributes);
      EXPECT_EQ(last.record().bytes, last_.bytes) << chunk;
      for (const auto& [id, region] : table_.regions())
        EXPECT_TRUE(std::equal(region.address, region.address + region.bytes(),
                               whole.begin() + (region.address - memory_.data())))
            << chunk;
      memory_ = whole;
    }
  }
}

TEST_F(Composite, ReadsOnlyWhatItsPartsNeed) {
  const auto stored = store(1000);
  CollectingTarget records({{10, 30}, {50, 5}});  // of the 103 bytes of both records
  MemoryTarget memory(table_, std::vector<std::int32_t>{2});
  CompositeTarget target({{&memory, is_memory}, {&records, [](const auto& entry) { return !is_memory(entry); }}});
  EXPECT_EQ(target.accept(stored.entries).value(), (std::vector<ChunkRange>{{10, 23}, {83, 40}, {123, 7}, {140, 5}}));
  EXPECT_EQ(records.entries.size(), 2U);
}

TEST_F(Composite, RefusesTwoEntriesOfOneNumber) {
  RecordSource record(Record{2, {}});
  MemorySource memory(table_);
  CompositeSource source({&memory, &record});
  const auto described = source.describe();
  ASSERT_FALSE(described);
  EXPECT_EQ(described.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(described.error().object, "entry 2");
}

TEST_F(Composite, RefusesAnEntryThatNoPartTakes) {
  MemoryTarget memory(table_, std::nullopt);
  CompositeTarget target({{&memory, is_memory}});
  const auto accepted = target.accept(store(1000).entries);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, PERDURE_MISMATCH);
  EXPECT_EQ(accepted.error().object, "entry 1000");
}

TEST_F(Composite, ReadingEndsWithTheFirstErrorOfAPart) {
  RecordSource first(first_), last(last_);
  CompositeSource source({&first, &last});
  ASSERT_TRUE(source.describe());
  int pieces = 0;
  const auto read = source.read({0, 103}, [&](base::ConstByteSpan) -> base::Status {
    ++pieces;
    return base::fail(PERDURE_IO, "slot", "full");
  });
  EXPECT_FALSE(read);
  EXPECT_EQ(pieces, 1);
}

TEST_F(Composite, IsReadAsAllPartsLike) {
  class Pages : public GeneratedSource {
   public:
    explicit Pages(Manner manner) : GeneratedSource(100, 1), manner_(manner) {}
    Manner manner() const override { return manner_; }

   private:
    Manner manner_;
  };
  Pages fast({4, true, 0}), lazy({2, true, 4096});
  const Manner both = CompositeSource({&fast, &lazy}).manner();
  EXPECT_EQ(both.threads, 2U);
  EXPECT_TRUE(both.once);
  EXPECT_EQ(both.most_chunk_bytes, 4096U);
  MemorySource memory(table_);
  const Manner all = CompositeSource({&fast, &lazy, &memory}).manner();
  EXPECT_EQ(all.threads, 1U);
  EXPECT_FALSE(all.once);
}

TEST(RecordTarget, RefusesOtherEntriesAndTooManyBytes) {
  RecordTarget target(10);
  const auto code_of = [&](const std::vector<segment::RegionEntry>& stored) {
    const auto accepted = target.accept(stored);
    return accepted ? PERDURE_OK : accepted.error().code;
  };
  EXPECT_EQ(code_of({}), PERDURE_MISMATCH);
  EXPECT_EQ(code_of({{1, 1, 10}}), PERDURE_MISMATCH) << "memory";
  EXPECT_EQ(code_of({Record{1, std::vector<std::byte>(11)}.entry()}), PERDURE_CORRUPT);
  EXPECT_EQ(code_of({Record{1, std::vector<std::byte>(10)}.entry()}), PERDURE_OK);
}

}  // namespace
}  // namespace perdure::capture
