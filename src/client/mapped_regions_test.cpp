#include "client/mapped_regions.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>

namespace perdure::client {
namespace {

using testing::HasSubstr;

TEST(MappedRegions, ThatWereUnmappedAreNamed) {
  constexpr std::size_t kBytes = 1 << 20;
  auto* memory =
      static_cast<std::byte*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::vector<std::byte> other(kBytes);
  capture::RegionTable table;
  ASSERT_TRUE(table.protect({1, other.data(), 1, other.size()}));
  ASSERT_TRUE(table.protect({2, memory, 1, kBytes}));
  EXPECT_TRUE(check_mapped(table));
  ::munmap(memory + kBytes / 2, 4096);
  const auto gone = check_mapped(table);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, PERDURE_INVALID_ARGUMENT);
  EXPECT_THAT(gone.error().text(), HasSubstr("region 2: its memory, 1.0 MiB, is not there any more"));
  const std::int32_t first = 1, both[] = {1, 2, 77};
  EXPECT_TRUE(check_mapped(table, {&first, 1})) << "a restore of the other one does not need it";
  EXPECT_FALSE(check_mapped(table, both));
  ASSERT_TRUE(table.unprotect(2));
  EXPECT_TRUE(check_mapped(table));
  ::munmap(memory, kBytes);
}

}  // namespace
}  // namespace perdure::client
