#include "tier/slot_io.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <random>

#include "base/bytes.hpp"
#include "os/descriptors.hpp"
#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::tier {
namespace {

using base::MiB;

class SlotIoTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto made = make_tier(GetParam(), {0, directory / "slots", 2 * MiB, 8 * MiB});
    ASSERT_TRUE(made);
    tier = std::move(*made);
    slot = tier->address(*tier->acquire(2 * MiB));
  }
  test_support::TemporaryDirectory directory;
  std::unique_ptr<Tier> tier;
  SlotAddress slot;
  SlotIo io;
};

TEST_P(SlotIoTest, PartsWrittenInPiecesReadBackInOtherPiecesWithTheSameHash) {
  std::mt19937_64 random(1);
  std::vector<std::byte> data(1'500'001), back(data.size());
  for (auto& b : data) b = static_cast<std::byte>(random());
  ASSERT_TRUE(io.prepare(slot, data.size()));
  base::Hasher writing, reading;
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t bytes = std::min<std::size_t>(data.size() - at, random() % 400'000);
    ASSERT_TRUE(io.write(slot, at, base::ConstByteSpan(data).subspan(at, bytes), writing));
    at += bytes;
  }
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t bytes = std::min<std::size_t>(data.size() - at, random() % 300'000);
    ASSERT_TRUE(io.read(slot, at, base::ByteSpan(back).subspan(at, bytes), reading));
    at += bytes;
  }
  EXPECT_EQ(back, data);
  EXPECT_EQ(writing.digest(), base::hash128(data));
  EXPECT_EQ(reading.digest(), base::hash128(data));
}

// A thread of the application that writes to its memory during a checkpoint must not damage the version: the stored
// bytes match their hash. The writer is another process, so that this one has no race.
TEST_P(SlotIoTest, HashesWhatTheSlotGotWhoeverWritesToTheSourceMeanwhile) {
  constexpr std::size_t kBytes = base::MiB, kRounds = 20;
  void* shared = ::mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* source = static_cast<std::byte*>(shared);
  auto* turns = reinterpret_cast<std::atomic<std::uint64_t>*>(source + kBytes);
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    for (std::uint64_t turn = 0;; turns->store(++turn))
      for (std::size_t at = turn % 512; at < kBytes; at += 512) source[at] ^= std::byte{1};
  }
  ASSERT_TRUE(io.prepare(slot, kBytes));
  std::vector<std::byte> back(kBytes);
  std::uint64_t seen = 0;
  for (std::size_t round = 0; round < kRounds;) {
    base::Hasher writing, filling, reading;
    EXPECT_TRUE(io.write(slot, 0, {source, kBytes}, writing));
    EXPECT_TRUE(io.read(slot, 0, back, reading));
    EXPECT_EQ(writing.digest(), base::hash128(back));
    auto fill = io.fill(slot, kBytes, filling);
    EXPECT_TRUE(fill && fill->append({source, kBytes}) && fill->finish());
    EXPECT_TRUE(io.read(slot, 0, back, reading));
    EXPECT_EQ(filling.digest(), base::hash128(back));
    if (HasFailure()) break;
    round += turns->load() != seen ? 1 : 0;  // only rounds beside the writer count
    seen = turns->load();
  }
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  ::munmap(shared, 2 * kBytes);
}

TEST_P(SlotIoTest, IsFilledByPiecesOfAnySizeAndScatteredOverRunsOfAnySize) {
  std::mt19937_64 random(3);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5000}, std::size_t{300'000}, std::size_t{1'500'001}})
    for (const std::size_t most : {std::size_t{90}, std::size_t{9000}, std::size_t{500'000}}) {
      std::vector<std::byte> data(bytes), back(bytes, std::byte{1});
      for (auto& b : data) b = static_cast<std::byte>(random());
      ASSERT_TRUE(io.prepare(slot, bytes));
      base::Hasher writing, reading;
      auto fill = io.fill(slot, bytes, writing);
      ASSERT_TRUE(fill);
      for (std::size_t at = 0; at < bytes;) {
        const std::size_t piece = std::min<std::size_t>(bytes - at, random() % (most + 1));
        ASSERT_TRUE(fill->append(base::ConstByteSpan(data).subspan(at, piece)));
        at += piece;
      }
      EXPECT_FALSE(fill->append(base::as_bytes("more than was said")));
      ASSERT_TRUE(fill->finish());
      EXPECT_EQ(fill->appended(), bytes);
      EXPECT_EQ(writing.digest(), base::hash128(data));
      std::vector<base::MemorySpan> spans;
      for (std::size_t at = 0; at < bytes;) {
        const std::size_t run = std::min<std::size_t>(bytes - at, random() % (most + 1));
        const bool wanted = random() % 4 != 0;
        spans.push_back({wanted ? back.data() + at : nullptr, run});
        if (!wanted) std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(at), run, std::byte{1});
        at += run;
      }
      ASSERT_TRUE(io.prepare_to_read(slot, bytes));
      ASSERT_TRUE(io.scatter(slot, spans, reading));
      EXPECT_EQ(back, data) << bytes << " bytes in runs of up to " << most;
      EXPECT_EQ(reading.digest(), writing.digest());
    }
  base::Hasher hasher;
  EXPECT_FALSE(io.fill(slot, 2 * MiB + 1, hasher));
  const base::MemorySpan beyond{nullptr, 2 * MiB + 1};
  EXPECT_FALSE(io.scatter(slot, std::span(&beyond, 1), hasher));
  EXPECT_FALSE(io.prepare_to_read(slot, 2 * MiB + 1));
}

TEST_P(SlotIoTest, AllBytesAreMovedHoweverFewTheSystemMovesAtATime) {
  std::mt19937_64 random(2);
  std::vector<std::byte> data(700'001), back(data.size());
  for (auto& b : data) b = static_cast<std::byte>(random());
  os::FaultRules faults(*os::parse_fault_rules("short:slots:70000"));
  const test_support::InstalledHooks installed(faults);
  base::Hasher writing, reading;
  ASSERT_TRUE(io.prepare(slot, data.size()) && io.write(slot, 0, data, writing));
  ASSERT_TRUE(io.read(slot, 0, back, reading));
  EXPECT_EQ(back, data);
  EXPECT_EQ(reading.digest(), base::hash128(data));
}

TEST_P(SlotIoTest, NothingIsTouchedBeyondTheSlot) {
  base::Hasher hasher;
  std::vector<std::byte> byte(2);
  for (std::uint64_t offset : {slot.capacity - 1, slot.capacity + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(io.write(slot, offset, byte, hasher).error().code, PERDURE_INTERNAL) << offset;
    EXPECT_EQ(io.read(slot, offset, byte, hasher).error().code, PERDURE_INTERNAL) << offset;
  }
  EXPECT_FALSE(io.prepare(slot, slot.capacity + 1));
  EXPECT_FALSE(io.view(slot, slot.capacity + 1));
}

TEST_P(SlotIoTest, SaysHowMuchCanBeRead) {
  base::Hasher hasher;
  const std::vector<std::byte> data(70'000);
  ASSERT_TRUE(io.prepare(slot, data.size()) && io.write(slot, 0, data, hasher));
  const auto size = io.size(slot);
  ASSERT_TRUE(size);
  EXPECT_GE(*size, data.size());
  EXPECT_LE(*size, slot.capacity);
}

TEST_P(SlotIoTest, ASlotOfATierThatIsNotKnownHereIsRefused) {
  SlotAddress other = slot;
  other.path += "-other";
  other.access = "tape";
  base::Hasher hasher;
  std::vector<std::byte> byte(1);
  const auto refused = io.write(other, 0, byte, hasher);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_UNSUPPORTED);
  EXPECT_NE(refused.error().text().find("'tape'"), std::string::npos) << refused.error().text();
}

TEST_P(SlotIoTest, AViewShowsWhatIsMemoryAndNothingElse) {
  const auto view = io.view(slot, 1000);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->size(), slot.mapped ? 1000u : 0u);
}

TEST_P(SlotIoTest, AMissingFileIsAnErrorThatNamesIt) {
  SlotAddress gone = slot;
  gone.path = directory / "gone";
  base::Hasher hasher;
  std::vector<std::byte> byte(1);
  const auto failed = io.read(gone, 0, byte, hasher);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text().find(gone.path), std::string::npos);
  EXPECT_TRUE(io.read(slot, 0, byte, hasher));
}

TEST_P(SlotIoTest, AFailingDeviceIsAnErrorAndWorksAgainAfterwards) {
  if (!slot.access.empty()) GTEST_SKIP() << "which calls its own way makes is for its own tests";
  base::Hasher hasher;
  const std::vector<std::byte> data(1000);
  {
    os::FaultRules faults(*os::parse_fault_rules("pwrite:slots:EIO;madvise:slots:EFAULT;fallocate:slots:ENOSPC"));
    test_support::InstalledHooks installed(faults);
    const auto prepared = io.prepare(slot, data.size());
    const auto failed = prepared ? io.write(slot, 0, data, hasher) : prepared;
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().text().find(directory.path()), std::string::npos) << failed.error().text();
  }
  io.clear();
  EXPECT_TRUE(io.prepare(slot, data.size()) && io.write(slot, 0, data, hasher));
}

INSTANTIATE_TEST_SUITE_P(Tiers, SlotIoTest, ::testing::ValuesIn(tier_names()),
                         [](const auto& param) { return param.param; });

std::size_t open_descriptors() {
  auto all = os::OpenDescriptors::open();
  const auto list = all ? all->list() : base::Result<std::vector<int>>(std::vector<int>());
  return list ? list->size() : 0;
}

TEST(SlotIoOfManySlots, KeepsAFewDescriptorsHoweverManyFilesThereAre) {
  const test_support::TemporaryDirectory directory;
  auto tier = make_tier("file", {0, directory / "slots", 64 * base::KiB, 64 * MiB}).value();
  SlotIo io;
  const std::size_t before = open_descriptors();
  std::vector<SlotAddress> slots;
  for (std::uint32_t i = 0; i < 200; ++i) {
    slots.push_back(tier->address(*tier->acquire(1)));
    base::Hasher hasher;
    ASSERT_TRUE(io.write(slots.back(), 0, std::as_bytes(std::span(&i, 1)), hasher));
    EXPECT_LE(open_descriptors(), before + SlotIo::kMostFiles);
  }
  EXPECT_EQ(open_descriptors(), before + SlotIo::kMostFiles) << "the last ones stay open";
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    std::uint32_t back = 0;
    base::Hasher hasher;
    ASSERT_TRUE(io.read(slots[i], 0, std::as_writable_bytes(std::span(&back, 1)), hasher));
    EXPECT_EQ(back, i);
  }
  io.clear();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SlotIoOfManySlots, KeepsTheFilesThatWereUsedLast) {
  const test_support::TemporaryDirectory directory;
  auto tier = make_tier("file", {0, directory / "slots", 64 * base::KiB, 64 * MiB}).value();
  SlotIo io;
  std::vector<SlotAddress> slots;
  for (std::size_t i = 0; i < SlotIo::kMostFiles + 1; ++i) slots.push_back(tier->address(*tier->acquire(1)));
  for (std::size_t i = 0; i < SlotIo::kMostFiles; ++i) ASSERT_TRUE(io.size(slots[i]));
  ASSERT_TRUE(io.size(slots[0]));      // the first one is the one used last
  ASSERT_TRUE(io.size(slots.back()));  // replaces the second one
  os::FaultRules refuse({{"open", "slot-", EACCES}});
  const test_support::InstalledHooks hooks(refuse);
  EXPECT_TRUE(io.size(slots[0]));
  EXPECT_TRUE(io.size(slots[2]));
  EXPECT_FALSE(io.size(slots[1])) << "it has to be opened again";
}

TEST(SlotIoOfManySlots, ClosesItsFilesWhenTheProcessHasNoDescriptorLeft) {
  const test_support::TemporaryDirectory directory;
  auto tier = make_tier("file", {0, directory / "slots", 64 * base::KiB, 64 * MiB}).value();
  SlotIo io;
  const SlotAddress one = tier->address(*tier->acquire(1)), other = tier->address(*tier->acquire(1));
  ASSERT_TRUE(io.size(one));
  const std::size_t before = open_descriptors();
  os::FaultRules none_left({{"open", "slot-", EMFILE, 1, 1}});
  const test_support::InstalledHooks hooks(none_left);
  EXPECT_TRUE(io.size(other));
  EXPECT_EQ(open_descriptors(), before) << "the first one was closed";
}

}  // namespace
}  // namespace perdure::tier
