#include "process/increment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "process/block_marks.hpp"
#include "support/seeds.hpp"

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kBlockPages = kBlockBytes / kPageBytes;
const std::vector<std::byte> kKey(kMarkKeyBytes, std::byte{7});

/// Pages with content by address. Captures of them are bytes, so that borrowed pages can be looked up.
class Memory {
 public:
  using Content = std::map<std::uint64_t, std::uint32_t>;  // of each page
  Content content;

  static std::vector<std::byte> marks(const ProcessImage& image, const Content& content) {
    const auto read = [&](const PageRun& block, base::ByteSpan bytes) -> base::Status {
      for (std::uint64_t page = 0; page < block.pages; ++page)
        std::fill_n(bytes.data() + page * kPageBytes, kPageBytes,
                    static_cast<std::byte>(content.at(block.begin + page * kPageBytes)));
      return {};
    };
    return marks_of(blocks_of_pages(image.pages), kKey, read, 2).value();
  }
};

/// The content of stored pages, by lender and offset.
class Stores {
 public:
  StoredImage store(ProcessImage image, const Memory::Content& content) {
    const std::uint64_t record_bytes = 1000 + 8 * next_;
    const Lender lender{next_++, 1, 2};
    auto& bytes = all_[lender.version];
    std::uint64_t offset = record_bytes;
    for (const auto& node : image.pages)
      for (const auto& run : node.runs)
        for (std::uint64_t at = run.begin; at < run.end(); at += kPageBytes, offset += kPageBytes)
          bytes[offset] = content.at(at);
    return {lender, record_bytes, std::move(image)};
  }
  /// Returns all pages that it has or borrows; each must occur once.
  Memory::Content content_of(const StoredImage& stored) const {
    Memory::Content content;
    std::uint64_t offset = stored.record_bytes;
    const auto add = [&](std::uint64_t address, std::uint64_t version, std::uint64_t at) {
      EXPECT_TRUE(content.emplace(address, all_.at(version).at(at)).second) << "twice: " << address;
    };
    for (const auto& node : stored.image.pages)
      for (const auto& run : node.runs)
        for (std::uint64_t at = run.begin; at < run.end(); at += kPageBytes, offset += kPageBytes)
          add(at, stored.lender.version, offset);
    const auto& increment = stored.image.increment;
    for (const auto& one : increment.borrowed)
      for (const auto& run : one.runs)
        for (std::uint64_t page = 0; page < run.pages; ++page)
          add(run.begin + page * kPageBytes, increment.lenders.at(one.lender).version, run.offset + page * kPageBytes);
    return content;
  }

 private:
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint32_t>> all_;
};

ProcessImage with_pages(std::vector<NodePages> pages) {
  ProcessImage image;
  image.pages = std::move(pages);
  return image;
}

Memory::Content filled(const ProcessImage& image, std::uint32_t value) {
  Memory::Content content;
  for (const auto& node : image.pages)
    for (const auto& run : node.runs)
      for (std::uint64_t at = run.begin; at < run.end(); at += kPageBytes) content[at] = value++ % 251;
  return content;
}

TEST(Increments, HaveTheBlocksThatChangedAndBorrowTheOthers) {
  const ProcessImage whole = with_pages({{0, {{kBlockBytes, 10 * kBlockPages}}}});
  auto content = filled(whole, 3);
  Stores stores;
  const auto first = stores.store(shortened(whole, kKey, Memory::marks(whole, content), nullptr, 8), content);
  EXPECT_EQ(first.image.pages, whole.pages);
  content[5 * kBlockBytes] = 200;
  const ProcessImage second = shortened(whole, kKey, Memory::marks(whole, content), &first, 8);
  ASSERT_EQ(second.pages.size(), 1);
  EXPECT_THAT(second.pages[0].runs, ElementsAre(PageRun{5 * kBlockBytes, kBlockPages}));
  ASSERT_EQ(second.increment.borrowed.size(), 1);
  EXPECT_THAT(second.increment.borrowed[0].runs,
              ElementsAre(BorrowedRun{kBlockBytes, 4 * kBlockPages, first.record_bytes},
                          BorrowedRun{6 * kBlockBytes, 5 * kBlockPages, first.record_bytes + 5 * kBlockBytes}));
  EXPECT_EQ(stores.content_of(stores.store(second, content)), content);
}

TEST(Increments, AreWholeWhereMoreThanHalfChangedOrKeysOrLendersDoNotAllow) {
  const ProcessImage whole = with_pages({{0, {{0, 4 * kBlockPages}}}});
  auto content = filled(whole, 3);
  Stores stores;
  const auto first = stores.store(shortened(whole, kKey, Memory::marks(whole, content), nullptr, 8), content);
  const auto lenders = [&](const StoredImage* before, const std::vector<std::byte>& key, std::size_t most) {
    return shortened(whole, key, Memory::marks(whole, content), before, most).increment.lenders.size();
  };
  EXPECT_EQ(lenders(&first, kKey, 1), 1);
  EXPECT_EQ(lenders(&first, kKey, 0), 0);
  EXPECT_EQ(lenders(&first, std::vector<std::byte>(kMarkKeyBytes, std::byte{8}), 8), 0) << "its marks say nothing";
  EXPECT_EQ(lenders(nullptr, kKey, 8), 0);
  for (const std::uint64_t block : {0, 1}) content[block * kBlockBytes] += 1;
  EXPECT_EQ(lenders(&first, kKey, 8), 1) << "half";
  content[2 * kBlockBytes] += 1;
  EXPECT_EQ(lenders(&first, kKey, 8), 0) << "more than half";
}

// Others may write shared memory while its owner stands still.
TEST(Increments, StoreSharedMemoryEachTime) {
  ProcessImage whole = with_pages({{0, {{0, 4 * kBlockPages}, {8 * kBlockBytes, kBlockPages}}}});
  whole.maps = {{0, 4 * kBlockBytes}, {8 * kBlockBytes, 9 * kBlockBytes}};
  whole.maps[1].shared = true;
  whole.maps[1].object = 1;
  Stores stores;
  const auto content = filled(whole, 3);
  const auto first = stores.store(shortened(whole, kKey, Memory::marks(whole, content), nullptr, 8), content);
  const auto second = shortened(whole, kKey, Memory::marks(whole, content), &first, 8);
  EXPECT_THAT(second.pages[0].runs, ElementsAre(PageRun{8 * kBlockBytes, kBlockPages}));
  // The memory was shared then and is private now. Its mark may not match the stored content.
  whole.maps[1].shared = false;
  whole.maps[1].object = 0;
  const auto own = shortened(whole, kKey, Memory::marks(whole, content), &first, 8);
  EXPECT_THAT(own.pages[0].runs, ElementsAre(PageRun{8 * kBlockBytes, kBlockPages}));
}

TEST(Increments, OfAPartOfABlockThatGrewStoreIt) {
  const ProcessImage before = with_pages({{0, {{0, 4}, {2 * kBlockBytes, 4 * kBlockPages}}}});
  const ProcessImage after = with_pages({{0, {{0, 5}, {2 * kBlockBytes, 4 * kBlockPages}}}});
  Stores stores;
  auto content = filled(after, 3);
  const auto first = stores.store(shortened(before, kKey, Memory::marks(before, content), nullptr, 8), content);
  const auto second = shortened(after, kKey, Memory::marks(after, content), &first, 8);
  EXPECT_THAT(second.pages[0].runs, ElementsAre(PageRun{0, 5}));
}

// Pages come and go, change, and move between nodes. Each image of a chain must have exactly the memory's content.
TEST(Increments, OfRandomMemoryHaveExactlyItsContent) {
  const auto seeds = test_support::many_seeds(1, 40, 10);
  for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("PERDURE_TEST_SEEDS=" + std::to_string(seed));
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    const auto draw = [&](std::uint64_t below) {
      return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random);
    };
    Stores stores;
    std::optional<StoredImage> before;
    Memory::Content content;
    std::map<std::uint64_t, std::uint32_t> node_of;
    const std::uint64_t pages = 40 * kBlockPages;
    for (std::uint64_t page = 0; page < pages; ++page)
      if (draw(8) != 0) content[page * kPageBytes] = static_cast<std::uint32_t>(draw(251));
    std::size_t borrowed = 0;
    for (int version = 0; version < 12; ++version) {
      for (std::uint64_t changes = draw(12); changes > 0; --changes) {
        const std::uint64_t address = draw(pages) * kPageBytes;
        if (draw(3) == 0)
          content.erase(address);
        else
          content[address] = static_cast<std::uint32_t>(draw(251));
        node_of[address] = static_cast<std::uint32_t>(draw(2));
      }
      ProcessImage image = with_pages({{0, {}}, {1, {}}});
      for (const auto& [address, value] : content) {
        auto& runs = image.pages[node_of[address]].runs;
        if (!runs.empty() && runs.back().end() == address && address % (16 * kBlockBytes) != 0)  // a mapping ends there
          ++runs.back().pages;
        else
          runs.push_back({address, 1});
      }
      auto next = shortened(image, kKey, Memory::marks(image, content), before ? &*before : nullptr, 4);
      EXPECT_LE(next.increment.lenders.size(), 4);
      EXPECT_EQ(next.increment.marks.size(), blocks_of_pages(next.all_pages()).size() * kMarkBytes);
      EXPECT_EQ(next.increment.wrong(), "");
      borrowed += next.increment.borrowed.size();
      before = stores.store(std::move(next), content);
      ASSERT_EQ(stores.content_of(*before), content) << "version " << version;
    }
    EXPECT_GT(borrowed, 0);
  }
}

TEST(Marks, DependOnEveryByteOnTheKeyAndNotOnHowManyThreadsThereAre) {
  std::vector<PageRun> blocks;
  for (std::uint64_t i = 0; i < 300; ++i) blocks.push_back({i * kBlockBytes, i % 2 == 0 ? kBlockPages : 3});
  std::uint64_t flipped = ~std::uint64_t{0};
  const auto read = [&](const PageRun& block, base::ByteSpan bytes) -> base::Status {
    std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(block.begin / kBlockBytes));
    if (flipped >= block.begin && flipped < block.begin + bytes.size()) bytes[flipped - block.begin] ^= std::byte{1};
    return {};
  };
  const auto one = marks_of(blocks, kKey, read, 1).value();
  EXPECT_EQ(one, marks_of(blocks, kKey, read, 4).value());
  EXPECT_NE(one, marks_of(blocks, new_mark_key(), read, 1).value());
  for (const std::uint64_t at : {std::uint64_t{0}, kBlockBytes - 1, 200 * kBlockBytes + 4097}) {
    flipped = at;
    const auto other = marks_of(blocks, kKey, read, 2).value();
    for (std::size_t block = 0; block < blocks.size(); ++block)
      EXPECT_EQ(std::equal(one.begin() + block * kMarkBytes, one.begin() + (block + 1) * kMarkBytes,
                           other.begin() + block * kMarkBytes),
                block != at / kBlockBytes);
  }
}

TEST(Marks, OfWhatCannotBeReadAreNone) {
  const auto refuses = [](const PageRun&, base::ByteSpan) -> base::Status {
    return base::fail(PERDURE_IO, "memory", "it is gone");
  };
  const auto marks = marks_of({{0, 16}}, kKey, refuses, 2);
  ASSERT_FALSE(marks);
  EXPECT_EQ(marks.error().cause, "it is gone");
}

TEST(Increments, ThatSayNonsenseAreWrong) {
  Increment increment;
  EXPECT_EQ(increment.wrong(), "");
  increment.borrowed = {{0, 0, {{0, 1, 0}}}};
  EXPECT_NE(increment.wrong(), "") << "nobody lends it";
  increment.lenders = {{1, 2, 3}};
  EXPECT_EQ(increment.wrong(), "");
  increment.borrowed[0].runs[0].offset = ~std::uint64_t{0};
  EXPECT_NE(increment.wrong(), "");
  increment.borrowed.clear();
  increment.lenders.resize(kMostLenders + 1);
  EXPECT_NE(increment.wrong(), "");
  increment.lenders.clear();
  increment.marks.resize(kMarkBytes);
  EXPECT_NE(increment.wrong(), "") << "marks without a key";
  increment.key.resize(kMarkKeyBytes - 1);
  EXPECT_NE(increment.wrong(), "");
}

}  // namespace
}  // namespace perdure::process
