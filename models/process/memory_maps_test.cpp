#include "process/memory_maps.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

namespace perdure::process {
namespace {

TEST(MemoryMaps, AreWhatTheLinesSay) {
  const auto maps = parse_maps(
      "55d0a2e00000-55d0a2e21000 r-xp 00002000 fe:01 1234567                    /usr/bin/a b (deleted)\n"
      "7f1200000000-7f1200021000 rw-p 00000000 00:00 0 \n"
      "7ffd3a5fe000-7ffd3a600000 ---s 00000000 00:05 77   /dev/shm/x\\012y\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
      "test");
  ASSERT_TRUE(maps) << maps.error().text();
  ASSERT_EQ(maps->size(), 4U);
  const MemoryMap first{0x55d0a2e00000, 0x55d0a2e21000,          true, false, true, false, 0x2000, 0xfe, 1,
                        1234567,        "/usr/bin/a b (deleted)"};
  EXPECT_EQ((*maps)[0], first);
  EXPECT_EQ((*maps)[1].name, "");
  EXPECT_FALSE((*maps)[1].is_file());
  EXPECT_TRUE((*maps)[2].shared);
  EXPECT_EQ((*maps)[2].name, "/dev/shm/x\ny");
  EXPECT_EQ((*maps)[3].begin, 0xffffffffff600000U);
  EXPECT_EQ((*maps)[3].bytes(), 0x1000U);
}

TEST(MemoryMaps, ThatAreNotUnderstoodAreRefusedWithTheLine) {
  const std::string good = "1000-2000 r--p 00000000 00:00 0 \n";
  for (const std::string bad :
       {"1000-1000 r--p 00000000 00:00 0 ", "2000-1000 r--p 00000000 00:00 0 ", "1000-2000 r-- 00000000 00:00 0 ",
        "1000-2000 q--p 00000000 00:00 0 ", "1000 2000 r--p 00000000 00:00 0 ", "1000-2000 r--p 00000000 0000 0 ",
        "10000000000000000-2000 r--p 00000000 00:00 0 ", "", "1000-2000 r--p", "1800-2800 r--p 00000000 00:00 0 "}) {
    const auto maps = parse_maps(good + bad + "\n", "process 7");
    ASSERT_FALSE(maps) << bad;
    EXPECT_THAT(maps.error().text(), testing::HasSubstr("process 7"));
    EXPECT_THAT(maps.error().text(), testing::HasSubstr("line 2 of its maps is '" + bad + "'"));
  }
  EXPECT_TRUE(parse_maps("", "test")->empty());
}

TEST(MemoryMaps, OfThisProcessAreUnderstood) {
  void* page = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  std::ifstream file("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto maps = parse_maps(text, "this");
  ASSERT_TRUE(maps) << maps.error().text();
  const auto at = reinterpret_cast<std::uint64_t>(page);
  const auto found = std::find_if(maps->begin(), maps->end(), [&](const MemoryMap& map) { return map.begin == at; });
  ASSERT_NE(found, maps->end());
  EXPECT_EQ(found->bytes(), 8192U);
  EXPECT_TRUE(found->shared && found->readable && !found->writable && !found->executable);
  EXPECT_EQ(::munmap(page, 8192), 0);
}

TEST(MemoryMaps, ThatAreDamagedAreRefusedOrOtherMaps) {
  const std::string whole = "55d0a2e00000-55d0a2e21000 r-xp 00002000 fe:01 1234567 /usr/bin/a\n";
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    const auto maps = parse_maps(text, "test");
    if (!maps) continue;
    for (const auto& map : *maps) EXPECT_LT(map.begin, map.end);
  }
}

}  // namespace
}  // namespace perdure::process
