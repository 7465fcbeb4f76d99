#include "os/memory_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "os/fault_rules.hpp"
#include "support/installed_hooks.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::os {
namespace {

using test_support::InstalledHooks;
using test_support::TemporaryDirectory;

constexpr std::uint64_t kHugePage = 2 * base::MiB;

class MappingOfSharedMemory : public testing::Test {
 protected:
  File make_file(std::uint64_t bytes) {
    File file = File::open(directory_ / "arena", Open::create).value();
    EXPECT_TRUE(file.truncate(bytes));
    return file;
  }
  static std::size_t resident_pages(const std::byte* start, std::uint64_t bytes) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> state(bytes / page);
    EXPECT_EQ(::mincore(const_cast<std::byte*>(start), bytes, state.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(state.begin(), state.end(), [](unsigned char s) { return (s & 1) != 0; }));
  }
  TemporaryDirectory directory_{TemporaryDirectory::Place::memory};
};

TEST_F(MappingOfSharedMemory, ShowsWhatIsInTheFileAndWritesToItAfterTheFileWasClosed) {
  Mapping mapping;
  {
    const File file = make_file(2 * kHugePage);
    ASSERT_TRUE(file.write(kHugePage, base::as_bytes("hello")));
    mapping = Mapping::map(file, kHugePage, 100, true).value();
  }
  EXPECT_EQ(std::memcmp(mapping.data(), "hello", 5), 0);
  mapping.data()[0] = std::byte{'j'};
  std::array<std::byte, 1> first{};
  ASSERT_TRUE(File::open(directory_ / "arena", Open::read).value().read(kHugePage, first));
  EXPECT_EQ(first[0], std::byte{'j'});
}

TEST_F(MappingOfSharedMemory, LiesSoThatHugePagesFit) {
  const File file = make_file(5 * kHugePage);
  for (std::uint64_t offset : {std::uint64_t{0}, kHugePage, 3 * kHugePage}) {
    const Mapping mapping = Mapping::map(file, offset, kHugePage + 4096, true).value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping.data()) % kHugePage, 0U);
    mapping.advise_huge_pages();
  }
  const Mapping shifted = Mapping::map(file, 8192, kHugePage, true).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shifted.data()) % kHugePage, 8192U);
}

TEST_F(MappingOfSharedMemory, MovesWithoutBeingUnmapped) {
  const File file = make_file(kHugePage);
  Mapping first = Mapping::map(file, 0, kHugePage, true).value();
  std::byte* data = first.data();
  Mapping second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.size(), kHugePage);
  second.data()[5] = std::byte{1};
  first = std::move(second);
  EXPECT_EQ(first.data()[5], std::byte{1});
}

TEST_F(MappingOfSharedMemory, IsGoneAfterDestruction) {
  const File file = make_file(kHugePage);
  std::byte* data = nullptr;
  {
    const Mapping mapping = Mapping::map(file, 0, kHugePage, true).value();
    data = mapping.data();
  }
  EXPECT_EQ(::msync(data, 4096, MS_ASYNC), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_F(MappingOfSharedMemory, RefusesAWrongRange) {
  const File file = make_file(kHugePage);
  EXPECT_EQ(Mapping::map(file, 0, 0, true).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Mapping::map(file, 100, 4096, true).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Mapping::map(file, 4096, UINT64_MAX - 100, true).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(MappingOfSharedMemory, RefusesAFileThatIsTooShortInsteadOfDyingLater) {
  const File file = make_file(kHugePage - 1);
  const auto failed = Mapping::map(file, 0, kHugePage, false);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PERDURE_CORRUPT);
}

TEST_F(MappingOfSharedMemory, PopulatesExactlyTheRangeAndKeepsItsContent) {
  const File file = make_file(2 * kHugePage);
  ASSERT_TRUE(file.write(10, base::as_bytes("kept")));
  const Mapping mapping = Mapping::map(file, 0, 2 * kHugePage, true).value();
  ASSERT_TRUE(mapping.populate(5, kHugePage - 5));
  EXPECT_EQ(resident_pages(mapping.data(), kHugePage), kHugePage / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(resident_pages(mapping.data() + kHugePage, kHugePage), 0U);
  EXPECT_EQ(std::memcmp(mapping.data() + 10, "kept", 4), 0);
  EXPECT_TRUE(mapping.populate(0, 0));
  ASSERT_TRUE(mapping.populate(kHugePage + 4096, 4096));
  EXPECT_EQ(resident_pages(mapping.data() + kHugePage, kHugePage), 1U);
}

TEST_F(MappingOfSharedMemory, IsMappedForWhoReadsAndWrittenToAllTheSame) {
  const File file = make_file(2 * kHugePage);
  ASSERT_TRUE(file.write(10, base::as_bytes("kept")));
  const Mapping mapping = Mapping::map(file, 0, 2 * kHugePage, true).value();
  ASSERT_TRUE(mapping.populate(0, kHugePage, Mapping::Access::read));
  EXPECT_EQ(resident_pages(mapping.data(), kHugePage), kHugePage / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(std::memcmp(mapping.data() + 10, "kept", 4), 0);
  mapping.data()[10] = std::byte{'K'};
  std::vector<std::byte> back(4);
  ASSERT_TRUE(file.read(10, back));
  EXPECT_EQ(std::memcmp(back.data(), "Kept", 4), 0);
  FaultRules faults(parse_fault_rules("madvise::ENOMEM").value());
  const InstalledHooks installed(faults);
  EXPECT_EQ(mapping.populate(0, kHugePage, Mapping::Access::read).error().code, PERDURE_NO_SPACE);
}

TEST_F(MappingOfSharedMemory, RefusesToPopulateOutsideOfIt) {
  const Mapping mapping = Mapping::map(make_file(kHugePage), 0, 8192, true).value();
  EXPECT_EQ(mapping.populate(4096, 4097).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(mapping.populate(8193, 0).error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(mapping.populate(4096, UINT64_MAX).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(MappingOfSharedMemory, SaysThatThereIsNoRoom) {
  const Mapping mapping = Mapping::map(make_file(kHugePage), 0, kHugePage, true).value();
  for (const char* rule : {"madvise::EFAULT", "madvise::ENOMEM"}) {
    FaultRules faults(parse_fault_rules(rule).value());
    const InstalledHooks installed(faults);
    const auto failed = mapping.populate(0, kHugePage);
    ASSERT_FALSE(failed) << rule;
    EXPECT_EQ(failed.error().code, PERDURE_NO_SPACE);
    EXPECT_EQ(failed.error().object, directory_ / "arena");
  }
}

TEST_F(MappingOfSharedMemory, SaysThatAFullFileSystemHasNoRoom) {
  // Uses a real full file system if we may mount one: a tmpfs of one megabyte for an arena of two.
  const std::string small = directory_ / "small";
  ASSERT_TRUE(make_directory(small));
  const std::string mount = "mount -t tmpfs -o size=1m none " + small + " 2>/dev/null";
  if (::geteuid() != 0 || std::system(mount.c_str()) != 0) GTEST_SKIP() << "may not mount";
  {
    const File file = File::open(small + "/arena", Open::create).value();
    EXPECT_TRUE(file.truncate(kHugePage));
    const Mapping mapping = Mapping::map(file, 0, kHugePage, true).value();
    const auto failed = mapping.populate(0, kHugePage);
    EXPECT_TRUE(!failed && failed.error().code == PERDURE_NO_SPACE);
  }
  EXPECT_EQ(std::system(("umount " + small).c_str()), 0);
}

// A kernel before 5.14 answers EINVAL; the hooks play it.
class MappingOnAnOldKernel : public MappingOfSharedMemory {
 protected:
  FaultRules old_kernel_{parse_fault_rules("madvise::EINVAL").value()};
  InstalledHooks installed_{old_kernel_};
};

TEST_F(MappingOnAnOldKernel, PopulatesThroughTheFile) {
  Mapping mapping;
  {
    const File file = make_file(2 * kHugePage + 100);
    ASSERT_TRUE(file.write(kHugePage + 10, base::as_bytes("kept")));
    mapping = Mapping::map(file, kHugePage, kHugePage + 100, true).value();
  }
  ASSERT_TRUE(mapping.populate(4096, kHugePage - 4096));
  EXPECT_EQ(resident_pages(mapping.data() + 4096, kHugePage - 4096),
            (kHugePage - 4096) / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  ASSERT_TRUE(mapping.populate(0, kHugePage + 100));
  EXPECT_EQ(std::memcmp(mapping.data() + 10, "kept", 4), 0);
  EXPECT_EQ(File::open(directory_ / "arena", Open::read).value().size().value(), 2 * kHugePage + 100);
}

TEST_F(MappingOnAnOldKernel, PopulatesItsOwnPartOfTheFileWhereverItWasMovedTo) {
  const File file = make_file(2 * kHugePage);
  Mapping moved;
  moved = Mapping::map(file, kHugePage, kHugePage, true).value();
  ASSERT_TRUE(moved.populate(0, kHugePage));
  EXPECT_EQ(::lseek(file.fd(), 0, SEEK_DATA), static_cast<off_t>(kHugePage)) << "nothing of the part before it";
}

TEST_F(MappingOnAnOldKernel, SaysThatThereIsNoRoom) {
  const Mapping mapping = Mapping::map(make_file(kHugePage), 0, kHugePage, true).value();
  FaultRules full(parse_fault_rules("fallocate::ENOSPC:1:1;fallocate::ENOMEM:2:1;fallocate::EIO:3").value());
  const InstalledHooks installed(full);
  for (const int code : {PERDURE_NO_SPACE, PERDURE_NO_SPACE, PERDURE_IO}) {
    const auto failed = mapping.populate(0, kHugePage);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, code);
  }
}

TEST(AnonymousMapping, IsZeroedAlignedAndCanBePopulated) {
  const auto mapping = Mapping::anonymous(3 * kHugePage + 5, "memory");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping->data()) % kHugePage, 0u);
  EXPECT_EQ(mapping->size(), 3 * kHugePage + 5);
  ASSERT_TRUE(mapping->populate(0, mapping->size()));
  EXPECT_EQ(mapping->data()[mapping->size() - 1], std::byte{0});
  mapping->data()[mapping->size() - 1] = std::byte{1};
}

TEST(AnonymousMapping, AnEarlierErrorIsNotItsOwn) {
  errno = ENOMEM;
  EXPECT_TRUE(Mapping::anonymous(4096, "memory"));
}

TEST(AnonymousMapping, WithoutMemorySaysThatThereIsNoRoomAndOtherErrorsAsTheyAre) {
  FaultRules faults(parse_fault_rules("mmap:memory:ENOMEM:1:1;mmap:memory:EPERM:2").value());
  const InstalledHooks installed(faults);
  EXPECT_EQ(Mapping::anonymous(4096, "memory").error().code, PERDURE_NO_SPACE);
  EXPECT_EQ(Mapping::anonymous(4096, "memory").error().code, PERDURE_PERMISSION);
}

TEST(AnonymousMapping, SizesThatAreNoneAreRefused) {
  EXPECT_EQ(Mapping::anonymous(0, "memory").error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_EQ(Mapping::anonymous(~std::uint64_t{0}, "memory").error().code, PERDURE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace perdure::os
