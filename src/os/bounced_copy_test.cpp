#include "os/bounced_copy.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <random>
#include <vector>

namespace perdure::os {
namespace {

std::uint64_t place_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

TEST(BouncedCopy, IsExactWhateverItsLengthAndWhereverItGoes) {
  constexpr std::size_t kBytes = 3 * BouncedCopy::kBufferBytes;
  std::vector<std::byte> memory(kBytes), copy(kBytes);
  std::mt19937_64 random(1);
  for (auto& byte : memory) byte = static_cast<std::byte>(random());
  BouncedCopy bounced;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{4097},
                                  BouncedCopy::kBufferBytes, BouncedCopy::kBufferBytes + 1, kBytes - 100}) {
    for (const std::size_t from : {0U, 1U, 64U})
      for (const std::size_t to : {0U, 5U, 64U}) {
        SCOPED_TRACE(std::to_string(bytes) + " bytes from " + std::to_string(from) + " to " + std::to_string(to));
        copy.assign(kBytes, std::byte{0xee});
        ASSERT_EQ(bounced.copy((from + to) % 2, place_of(&memory[from]), &copy[to], bytes), 0);
        std::vector<std::byte> expected(kBytes, std::byte{0xee});
        for (std::size_t i = 0; i < bytes; ++i) expected[to + i] = memory[from + i];
        ASSERT_TRUE(copy == expected);
      }
  }
}

TEST(BouncedCopy, OfMemoryThatIsGoneIsAnErrorAndNoSignal) {
  constexpr std::size_t kBytes = 1 << 20;
  auto* const memory =
      static_cast<std::byte*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memory[kBytes / 2 - 1] = std::byte{7};
  ::munmap(memory + kBytes / 2, kBytes / 2);
  std::vector<std::byte> copy(kBytes, std::byte{1});
  BouncedCopy bounced;
  EXPECT_EQ(bounced.copy(0, place_of(memory), copy.data(), kBytes / 2), 0);
  EXPECT_EQ(copy[kBytes / 2 - 1], std::byte{7});
  EXPECT_EQ(copy[0], std::byte{0}) << "nobody has touched that page";
  EXPECT_EQ(bounced.copy(1, place_of(memory), copy.data(), kBytes), EFAULT);
  EXPECT_EQ(bounced.copy(1, place_of(memory + kBytes / 2), copy.data(), 1), EFAULT);
  ::munmap(memory, kBytes / 2);
}

}  // namespace
}  // namespace perdure::os
