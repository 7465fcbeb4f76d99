// Tests that pages of zeros are in no image, and that the resumed process still has them.
#include "process/zero_pages.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "process/captured_testing.hpp"
#include "process/pages.hpp"
#include "process/staged_pages.hpp"
#include "support/eventually.hpp"

namespace perdure::process {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kZeroBlockPages = kBlockBytes / kPageBytes;

PageRun run_of_blocks(std::uint64_t begin, std::uint64_t end) {
  return {begin * kBlockBytes, (end - begin) * kZeroBlockPages};
}

std::vector<PageRun> left_of(const PageRun& run, const std::vector<PageRun>& zeros, std::size_t most = 100) {
  return pages_without({{0, {run}}}, zeros, most).at(0).runs;
}

TEST(PagesWithout, AreThoseBetween) {
  const PageRun run = run_of_blocks(10, 20);
  EXPECT_THAT(left_of(run, {}), ElementsAre(run));
  EXPECT_THAT(left_of(run, {run_of_blocks(10, 11)}), ElementsAre(run_of_blocks(11, 20)));
  EXPECT_THAT(left_of(run, {run_of_blocks(19, 20)}), ElementsAre(run_of_blocks(10, 19)));
  EXPECT_THAT(left_of(run, {run_of_blocks(12, 13), run_of_blocks(13, 14), run_of_blocks(17, 18)}),
              ElementsAre(run_of_blocks(10, 12), run_of_blocks(14, 17), run_of_blocks(18, 20)));
  EXPECT_THAT(left_of(run, {run}), IsEmpty());
}

TEST(PagesWithout, AreOfEachNode) {
  const std::vector<NodePages> pages{{1, {run_of_blocks(30, 40), run_of_blocks(50, 52)}}, {0, {run_of_blocks(10, 14)}}};
  const auto left = pages_without(pages, {run_of_blocks(31, 32), run_of_blocks(50, 51), run_of_blocks(13, 14)}, 100);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].node, 1U);
  EXPECT_THAT(left[0].runs, ElementsAre(run_of_blocks(30, 31), run_of_blocks(32, 40), run_of_blocks(51, 52)));
  EXPECT_EQ(left[1].node, 0U);
  EXPECT_THAT(left[1].runs, ElementsAre(run_of_blocks(10, 13)));
}

TEST(PagesWithout, AreNotMoreRunsThanARecordTakes) {
  const PageRun run = run_of_blocks(0, 100);
  std::vector<PageRun> zeros;
  for (std::uint64_t block = 0; block < 100; block += 2) zeros.push_back(run_of_blocks(block, block + 1));
  for (const std::size_t most : {1U, 2U, 7U, 49U, 50U, 51U}) {
    const auto left = left_of(run, zeros, most);
    EXPECT_LE(left.size(), most);
    EXPECT_GE(left.size() + 1, std::min<std::size_t>(most, 50));
    EXPECT_EQ(left.front().begin, kBlockBytes) << "what makes no run more is left out";
    EXPECT_EQ(left.back().end(), run.end());
  }
  EXPECT_THAT(left_of(run, zeros, 0), ElementsAre(run_of_blocks(1, 100)));
}

MapImage map_of_blocks(std::uint64_t begin, std::uint64_t end, std::uint32_t file) {
  MapImage map;
  map.begin = begin * kBlockBytes;
  map.end = end * kBlockBytes;
  map.file = file;
  return map;
}

TEST(BlocksOfAnImage, AreWholeByTheirAddressesAndOfNoFile) {
  ProcessImage image;
  image.maps = {map_of_blocks(1, 4, 0), map_of_blocks(4, 5, 1), map_of_blocks(5, 6, 0)};
  const std::uint64_t begin = 2 * kBlockBytes - kPageBytes;
  image.pages = {{0, {{begin, kZeroBlockPages + 3}, run_of_blocks(4, 5), run_of_blocks(5, 6)}}};
  EXPECT_THAT(blocks_of(image),
              ElementsAre(PageRun{begin, 1}, run_of_blocks(2, 3), PageRun{3 * kBlockBytes, 2}, run_of_blocks(5, 6)));
}

/// Memory of this process, aligned to blocks.
struct Blocks {
  explicit Blocks(std::uint64_t count) : bytes((count + 1) * kBlockBytes) {
    mapped =
        static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(mapped, MAP_FAILED);
    ::madvise(mapped, bytes, MADV_NOHUGEPAGE);  // untouched memory takes no pages
    begin = base::round_up(reinterpret_cast<std::uint64_t>(mapped), kBlockBytes);
  }
  ~Blocks() { ::munmap(mapped, bytes); }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  std::byte* at(std::uint64_t block) const {
    return mapped + (begin - reinterpret_cast<std::uint64_t>(mapped)) + block * kBlockBytes;
  }
  PageRun run(std::uint64_t block) const { return {begin + block * kBlockBytes, kZeroBlockPages}; }
  std::uint64_t bytes, begin = 0;
  std::byte* mapped = nullptr;
};

TEST(ZeroBlocks, AreThoseWhereNoByteIsAnother) {
  constexpr std::uint64_t kCount = 5000;  // needs several calls and threads
  const Blocks blocks(kCount);
  std::vector<PageRun> all, expected;
  for (std::uint64_t block = 0; block < kCount; ++block) {
    all.push_back(blocks.run(block));
    switch (block % 50) {  // other blocks stay untouched
      case 10:
        std::memset(blocks.at(block), 7, kBlockBytes);
        break;
      case 20:
        *blocks.at(block) = std::byte{1};
        break;
      case 30:
        blocks.at(block)[kBlockBytes - 1] = std::byte{1};
        break;
      case 40:
        blocks.at(block)[kBlockBytes / 2] = std::byte{1};
        break;
      case 45:
        std::memset(blocks.at(block), 0, kBlockBytes);
        [[fallthrough]];
      default:
        expected.push_back(all.back());
    }
  }
  for (const unsigned threads : {1U, 3U}) EXPECT_EQ(zero_blocks(::getpid(), all, threads), expected);
}

TEST(ZeroBlocks, AreNoneOfThoseThatCannotBeRead) {
  const Blocks blocks(6);
  std::vector<PageRun> all;
  for (std::uint64_t block = 0; block < 6; ++block) all.push_back(blocks.run(block));
  ASSERT_EQ(::munmap(blocks.at(0), kBlockBytes), 0);
  ASSERT_EQ(::munmap(blocks.at(3), kBlockBytes), 0);
  ASSERT_EQ(::munmap(blocks.at(4) + kBlockBytes - kPageBytes, kPageBytes), 0) << "the last page of one";
  EXPECT_THAT(zero_blocks(::getpid(), all, 1), ElementsAre(all[1], all[2], all[5]));
}

TEST(ZeroBlocks, MayLieAmongManyThatCannotBeRead) {
  constexpr std::uint64_t kCount = 1500;
  const Blocks blocks(kCount);
  std::vector<PageRun> all;
  for (std::uint64_t block = 0; block < kCount; ++block) all.push_back(blocks.run(block));
  ASSERT_EQ(::mprotect(blocks.at(1), (kCount - 2) * kBlockBytes, PROT_NONE), 0);
  ASSERT_EQ(::mprotect(blocks.at(700), kBlockBytes, PROT_READ), 0);
  EXPECT_THAT(zero_blocks(::getpid(), all, 1), ElementsAre(all[0], all[700], all[kCount - 1]));
}

TEST(ZeroBlocks, MayBeShort) {
  const Blocks blocks(2);
  const PageRun first{blocks.begin + kBlockBytes - kPageBytes, 1}, second{blocks.begin + kBlockBytes, 1};
  blocks.at(1)[kPageBytes] = std::byte{1};
  EXPECT_THAT(zero_blocks(::getpid(), {first, second}, 1), ElementsAre(first, second));
  blocks.at(1)[kPageBytes - 1] = std::byte{1};
  EXPECT_THAT(zero_blocks(::getpid(), {first, second}, 1), ElementsAre(first));
}

TEST(ZeroBlocks, NeedAWordThatIsNone) {
  std::vector<std::byte> bytes(100);
  EXPECT_TRUE(only_zeros({}));
  EXPECT_TRUE(only_zeros(bytes));
  for (const std::size_t at : {0U, 1U, 50U, 99U}) {
    bytes[at] = std::byte{1};
    EXPECT_FALSE(only_zeros(bytes));
    bytes[at] = std::byte{0};
  }
  EXPECT_TRUE(only_zeros(base::ConstByteSpan(bytes).first(1)));
}

/// A child with blocks that it zeroes or fills on request. A filled block has its number, from 1, in each byte. The
/// child has no descriptor shared with us; requests come through memory.
struct Zeroing {
  static constexpr std::uint64_t kCount = 12;
  struct Told {
    std::atomic<std::uint64_t> times{0}, done{0};
    std::uint64_t block = 0;
    bool with_number = false;
  };
  Zeroing() : blocks(kCount) {
    auto* const shared = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(shared, MAP_FAILED);
    told = new (shared) Told();
    process = ::fork();
    if (process != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int standard : {0, 1, 2}) ::dup2(nothing, standard);
    ::close_range(3, ~0U, 0);
    for (std::uint64_t block = 0; block < kCount; ++block) fill(block, block % 3 != 0);
    for (std::uint64_t done = 0;; ++done) {
      told->done = done + 1;
      while (told->times == done) ::usleep(100);  // wait: its memory is looked at meanwhile, and its parent ends it
      fill(told->block, told->with_number);
    }
  }
  ~Zeroing() {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    ::munmap(told, kPageBytes);
  }
  Zeroing(const Zeroing&) = delete;
  Zeroing& operator=(const Zeroing&) = delete;
  void fill(std::uint64_t block, bool with_number) const {
    std::memset(blocks.at(block), with_number ? static_cast<int>(block + 1) : 0, kBlockBytes);
  }
  void wait() const {
    EXPECT_TRUE(
        test_support::eventually("the child has done as it was told", [this] { return told->done > told->times; }));
  }
  void tell(std::uint64_t block, bool with_number) const {
    told->block = block;
    told->with_number = with_number;
    ++told->times;
    wait();
  }
  Blocks blocks;
  Told* told = nullptr;
  pid_t process = 0;
};

/// Returns, for each block in a capture, the number that fills it. -1: the capture does not have it; -2: it is mixed.
std::vector<int> stored_of(capture::Source& source, const Blocks& blocks) {
  const auto described = source.describe().value();
  std::vector<std::byte> bytes;
  bytes.reserve(described.bytes);
  for (std::uint64_t at = 0; at < described.bytes; at += 100'000)
    EXPECT_TRUE(
        source.read({at, std::min<std::uint64_t>(100'000, described.bytes - at)}, [&](base::ConstByteSpan part) {
          bytes.insert(bytes.end(), part.begin(), part.end());
          return base::Status();
        }));
  EXPECT_EQ(bytes.size(), described.bytes);
  const auto record = base::ConstByteSpan(bytes).first(described.entries[0].bytes());
  const auto image = decode_image(record, "image").value();
  EXPECT_EQ(image.wrong(), "");
  EXPECT_EQ(entries_of(record.size(), image), described.entries);
  std::vector<int> stored(Zeroing::kCount, -1);
  std::uint64_t at = record.size();
  for (const NodePages& node : image.pages)
    for (const PageRun& run : node.runs)
      for (std::uint64_t page = run.begin; page < run.end(); page += kPageBytes, at += kPageBytes) {
        if (page < blocks.begin || page >= blocks.begin + Zeroing::kCount * kBlockBytes) continue;
        int& its = stored[(page - blocks.begin) / kBlockBytes];
        const auto first = static_cast<int>(bytes[at]);
        const bool alike = std::memcmp(&bytes[at], &bytes[at + 1], kPageBytes - 1) == 0;
        its = alike && (its == -1 || its == first) ? first : -2;
      }
  return stored;
}

TEST(CapturedZeros, AreNotInTheImage) {
  const Zeroing child;
  child.wait();
  child.tell(4, false);
  child.tell(6, true);
  auto tracee = Tracee::seize(child.process).value();
  const auto read = read_image(tracee);
  ASSERT_TRUE(read) << read.error().text();
  ImageSource source(child.process, read->image);
  EXPECT_THAT(stored_of(source, child.blocks), ElementsAre(-1, 2, 3, -1, -1, 6, 7, 8, 9, -1, 11, 12));
  EXPECT_LE(source.describe()->bytes + 4 * kBlockBytes - kPageBytes,  // a run takes some of the record
            read->image.page_bytes() + encode_image(read->image).size());
}

TEST(CapturedZeros, AreThoseOfTheMomentWhenItStoodStill) {
  const Zeroing child;
  child.wait();
  const PageRun all{child.blocks.begin, Zeroing::kCount * kZeroBlockPages};
  auto staged = StagedPages::make(child.process, {all}).value();
  ASSERT_TRUE(staged.take({all}));
  child.tell(4, false);
  child.tell(6, true);
  auto tracee = Tracee::seize(child.process).value();
  const auto read = read_image(tracee);
  ASSERT_TRUE(read) << read.error().text();
  const std::vector<PageRun> unwritten{
      {all.begin, 4 * kZeroBlockPages}, child.blocks.run(5), {child.blocks.run(7).begin, 5 * kZeroBlockPages}};
  ASSERT_TRUE(staged.complete(read->image, unwritten));
  ASSERT_TRUE(tracee.release());
  child.tell(1, false);  // it continues, and its copies do not change
  child.tell(0, true);
  EXPECT_THAT(stored_of(staged, child.blocks), ElementsAre(-1, 2, 3, -1, -1, 6, 7, 8, 9, -1, 11, 12));
}

}  // namespace
}  // namespace perdure::process
