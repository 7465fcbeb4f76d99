#include "os/own_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

namespace perdure::os {
namespace {

constexpr std::size_t kOwnBytes = 1 << 20;

std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

bool has(const std::vector<AddressRange>& all, const void* at, std::uint64_t bytes) {
  return std::any_of(all.begin(), all.end(), [&](const AddressRange& one) {
    return one.begin <= address_of(at) && address_of(at) + bytes <= one.end;
  });
}

TEST(OwnMemory, IsPrivateAnonymousAndWritable) {
  const std::string maps =
      "00400000-00452000 rw-p 00000000 08:02 173521      /usr/bin/prog\n"
      "00e03000-00e24000 rw-p 00000000 00:00 0           [heap]\n"
      "00e24000-00f7f000 rw-p 00000000 00:00 0 \n"
      "35b1800000-35b1820000 r--p 00000000 00:00 0 \n"
      "35b1a21000-35b1a22000 rw-s 00000000 00:00 0 \n"
      "35b1a22000-35b1a23000 rw-p 00000000 00:0f 77      /anon_hugepage (deleted)\n"
      "7f2c6ff8c000-7f2c7078c000 rw-p 00000000 00:00 0   [anon:arena]\n"
      "7fffb2c0d000-7fffb2c2e000 rw-p 00000000 00:00 0   [stack]\n"
      "7fffb2d48000-7fffb2d49000 r-xp 00000000 00:00 0   [vdso]\n"
      "nothing that anybody understands\n";
  EXPECT_EQ(private_memory_in(maps),
            (std::vector<AddressRange>{{0xe03000, 0xf7f000}, {0x7f2c6ff8c000, 0x7f2c7078c000}}));
}

TEST(OwnMemory, OfThisProcessIsToldFromWhatItShares) {
  void* mine = ::mmap(nullptr, kOwnBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* shared = ::mmap(nullptr, kOwnBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  void* fixed = ::mmap(nullptr, kOwnBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int on_the_stack = 0;
  const std::vector<AddressRange> within = {{address_of(fixed), address_of(fixed) + kOwnBytes},
                                            {address_of(mine), address_of(mine) + kOwnBytes},
                                            {address_of(shared), address_of(shared) + kOwnBytes},
                                            {address_of(&on_the_stack), address_of(&on_the_stack) + 1}};
  const auto all = private_memory(within);
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_TRUE(has(*all, mine, kOwnBytes));
  EXPECT_FALSE(has(*all, shared, 1));
  EXPECT_FALSE(has(*all, fixed, 1));
  EXPECT_FALSE(has(*all, &on_the_stack, sizeof on_the_stack));
  for (void* one : {mine, shared, fixed}) ::munmap(one, kOwnBytes);
}

// Both ways must agree. The memory alternates kinds and has a hole; nobody else maps or protects it meanwhile.
TEST(OwnMemory, IsTheSameByQuestionsAndByTheList) {
  constexpr std::size_t kPart = 1 << 16;
  auto* const all =
      static_cast<std::byte*>(::mmap(nullptr, 8 * kPart, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::mprotect(all, kPart, PROT_READ);
  ::munmap(all + 3 * kPart, kPart);
  ::mprotect(all + 5 * kPart, kPart, PROT_NONE);
  ::mmap(all + 6 * kPart, kPart, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ::mprotect(all + 7 * kPart, kPart, PROT_READ);
  const AddressRange whole{address_of(all), address_of(all) + 8 * kPart};
  const std::vector<AddressRange> expected = {{whole.begin + kPart, whole.begin + 3 * kPart},
                                              {whole.begin + 4 * kPart, whole.begin + 5 * kPart}};
  const auto in_it = [&](std::vector<AddressRange> found) {
    std::erase_if(found, [&](const AddressRange& one) { return one.end <= whole.begin || whole.end <= one.begin; });
    return found;
  };
  EXPECT_EQ(in_it(private_memory(std::vector<AddressRange>(1000, whole)).value()), expected) << "the list";
  // The ranges are unsorted, repeated, and partial.
  const std::vector<AddressRange> within = {
      {whole.end - kPart, whole.end}, whole, {whole.begin, whole.begin + 1}, whole};
  if (const auto asked = asked_private_memory(within))
    EXPECT_EQ(*asked, expected) << "questions";
  else
    std::puts("this kernel answers no questions (Linux 6.11 does)");
  ::munmap(all, 8 * kPart);
}

TEST(OwnMemory, ThatIsGoneIsAnErrorAndNoSignal) {
  auto* memory =
      static_cast<std::byte*>(::mmap(nullptr, kOwnBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memory[kOwnBytes / 2 - 1] = std::byte{7};
  ::munmap(memory + kOwnBytes / 2, kOwnBytes / 2);
  std::vector<std::byte> copy(kOwnBytes);
  EXPECT_EQ(copy_own_memory(address_of(memory), copy.data(), kOwnBytes / 2), 0);
  EXPECT_EQ(copy[kOwnBytes / 2 - 1], std::byte{7});
  EXPECT_EQ(copy_own_memory(address_of(memory), copy.data(), kOwnBytes), EFAULT);
  ::munmap(memory, kOwnBytes / 2);
}

TEST(OwnMemory, IsMappedUntilAPartOfItIsGone) {
  constexpr std::size_t kPage = 4096;
  auto* memory =
      static_cast<std::byte*>(::mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const auto at = reinterpret_cast<std::uint64_t>(memory);
  EXPECT_TRUE(is_mapped(at, 8 * kPage));
  EXPECT_TRUE(is_mapped(at + 100, 1));
  ::munmap(memory + 4 * kPage, kPage);
  EXPECT_FALSE(is_mapped(at, 8 * kPage));
  EXPECT_TRUE(is_mapped(at, 4 * kPage));
  EXPECT_FALSE(is_mapped(at + 1, 4 * kPage)) << "one byte of the page that is gone";
  EXPECT_TRUE(is_mapped(at + 4 * kPage, 0)) << "nothing is needed there";
  ::munmap(memory, 8 * kPage);
}

TEST(OwnMemory, OfManyRangesIsMappedUntilAPartOfOneIsGone) {
  constexpr std::size_t kPage = 4096, kPages = 1000;
  auto* memory = static_cast<std::byte*>(
      ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  int on_the_stack = 0;
  std::vector<AddressRange> ranges = {{address_of(&on_the_stack), address_of(&on_the_stack + 1)}};
  for (std::size_t i = 0; i < kPages; i += 2) ranges.push_back({address_of(memory) + i * kPage + 8, 0});
  for (AddressRange& range : ranges) range.end = range.begin + 2000;
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const auto at = [&](std::size_t page) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (ranges[i].begin == address_of(memory) + page * kPage + 8) return i;
    return ranges.size();
  };
  EXPECT_EQ(first_unmapped({}), std::nullopt);
  EXPECT_EQ(first_unmapped(ranges), std::nullopt);
  for (std::size_t i = 1; i < kPages; i += 36) ::munmap(memory + i * kPage, kPage);
  EXPECT_EQ(first_unmapped(ranges), std::nullopt) << "nothing is needed there";
  for (const std::size_t page : {998U, 500U, 498U, 0U}) {
    ::munmap(memory + page * kPage, kPage);
    EXPECT_EQ(first_unmapped(ranges), at(page));
  }
  const AddressRange whole{address_of(memory), address_of(memory) + kPages * kPage};
  const AddressRange within{address_of(memory) + 2 * kPage, address_of(memory) + 3 * kPage};
  EXPECT_EQ(first_unmapped(std::vector<AddressRange>{whole, within}), 0U) << "the one around it";
  ::munmap(memory, kPages * kPage);
}

TEST(SilentDevices, AreThoseOfNvidia) {
  EXPECT_TRUE(pins_silently("/dev/nvidia0"));
  EXPECT_TRUE(pins_silently("/dev/nvidiactl"));
  EXPECT_FALSE(pins_silently("/dev/null"));
  EXPECT_FALSE(pins_silently("/home/me/dev/nvidia"));
  EXPECT_EQ(silent_device(), "") << "no GPU is open here";
}

}  // namespace
}  // namespace perdure::os
