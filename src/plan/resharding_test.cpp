// Checks byte by byte arrays that N ranks wrote and M ranks read.
#include "plan/resharding.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "array/any_boxes_testing.hpp"

namespace perdure::plan {
namespace {

using array::AnyBoxes;
using array::Box;
using array::each_element;
using array::Index;
using array::Strided;

/// Returns byte `byte` of the element at this index of that array.
char content(std::size_t number, const Index& at, std::uint64_t byte) {
  std::uint64_t mixed = number * 31 + byte;
  for (const std::uint64_t index : at) mixed = (mixed + index + 1) * 0x9E3779B97F4A7C15ULL;
  return static_cast<char>(mixed >> 56);
}

/// Some arrays as N ranks stored them.
struct Stored {
  std::vector<Box> whole;
  std::vector<StoredArray> arrays;
  std::vector<std::vector<char>> captures;
  StoredCaptures cut;
};

Stored store(AnyBoxes& any, std::uint64_t ranks) {
  Stored stored;
  stored.captures.resize(ranks);
  const std::size_t arrays = 1 + any.below(3);
  for (std::size_t i = 0; i < arrays; ++i) {
    stored.whole.push_back(any.array(6));
    const std::uint64_t element = 1 + any.below(12);
    const auto division = any.division(stored.whole[i], ranks);
    std::vector<StoredBox> boxes;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (const Box& box : division[rank]) {
        auto& capture = stored.captures[rank];
        boxes.push_back({rank, box, capture.size()});
        each_element(box, [&](const Index& at) {
          for (std::uint64_t byte = 0; byte < element; ++byte) capture.push_back(content(i, at, byte));
        });
      }
    stored.arrays.emplace_back(element, std::move(boxes));
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    stored.cut[rank] = {stored.captures[rank].size(), 1 + any.below(200)};
  return stored;
}

struct Wanted {
  WantedBox box;
  std::vector<char> memory, expected;
};

// Every wanted byte arrives, no other byte of memory is touched, and each chunk is read once on each node.
TEST(Resharding, GivesEveryRankItsElementsWhoeverWroteThem) {
  AnyBoxes any(11);
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t writers = 1 + any.below(16), readers = 1 + any.below(16), per_node = 1 + any.below(4);
    const Stored stored = store(any, writers);
    std::vector<std::vector<Wanted>> wanted(stored.arrays.size());
    for (std::size_t i = 0; i < stored.arrays.size(); ++i) {
      const std::uint64_t element = stored.arrays[i].element_bytes();
      const auto division = any.division(stored.whole[i], readers);
      for (std::uint32_t rank = 0; rank < readers; ++rank)
        for (const Box& mine : division[rank]) {
          if (mine.empty()) continue;
          const Box box = array::widened(mine, {any.below(3), any.below(3)}, stored.whole[i]);
          std::uint64_t bytes = 0;
          const Strided memory = any.strided(box, element, bytes);
          Wanted one{{rank, memory}, std::vector<char>(bytes, 'x'), std::vector<char>(bytes, 'x')};
          each_element(box, [&](const Index& at) {
            for (std::uint64_t byte = 0; byte < element; ++byte)
              one.expected[static_cast<std::size_t>(memory.at(at)) + byte] = content(i, at, byte);
          });
          wanted[i].push_back(std::move(one));
        }
    }
    for (std::uint64_t node = 0; node * per_node < readers; ++node) {
      const auto here = [&](std::uint32_t rank) { return rank / per_node == node; };
      std::vector<std::vector<WantedBox>> of_node(stored.arrays.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        for (const Wanted& one : wanted[i])
          if (here(one.box.rank)) of_node[i].push_back(one.box);
      std::set<StoredChunk> read;
      for (const ChunkReading& reading : readings(stored.arrays, of_node, stored.cut)) {
        ASSERT_TRUE(read.insert(reading.chunk).second) << "twice";
        ASSERT_TRUE(std::find(reading.users.begin(), reading.users.end(), reading.reader) != reading.users.end());
        const auto& capture = stored.captures[reading.chunk.rank];
        const auto& cut = stored.cut.at(reading.chunk.rank);
        const std::uint64_t begin = reading.chunk.chunk * cut.chunk_bytes;
        ASSERT_EQ(reading.bytes, std::min(cut.chunk_bytes, capture.size() - begin));
        std::set<std::uint32_t> used;
        for (std::size_t i = 0; i < wanted.size(); ++i)
          for (Wanted& one : wanted[i]) {
            if (!here(one.box.rank)) continue;
            for (const StoredBox& from : stored.arrays[i].stored()) {
              if (from.rank != reading.chunk.rank) continue;
              copies(stored.arrays[i].element_bytes(), from, cut, reading.chunk.chunk, one.box.memory,
                     [&](std::uint64_t source, std::int64_t target, std::uint64_t bytes) {
                       ASSERT_LE(source + bytes, reading.bytes);
                       ASSERT_GE(target, 0);
                       ASSERT_LE(static_cast<std::uint64_t>(target) + bytes, one.memory.size());
                       std::memcpy(one.memory.data() + target, capture.data() + begin + source, bytes);
                       used.insert(one.box.rank);
                     });
            }
          }
        ASSERT_EQ(reading.users, std::vector<std::uint32_t>(used.begin(), used.end()))
            << "who needs a chunk is who gets something of it";
      }
    }
    for (const auto& of_array : wanted)
      for (const Wanted& one : of_array) ASSERT_EQ(one.memory, one.expected) << "round " << round;
  }
}

TEST(Resharding, DividesTheReadingEvenlyAmongWhoNeedsIt) {
  const Box all = array::whole(std::array<std::uint64_t, 1>{1600}, 8, "test").value();
  const StoredArray stored(8, {{0, all, 0}});
  std::vector<WantedBox> wanted;
  for (std::uint32_t rank = 0; rank < 4; ++rank) wanted.push_back({rank, array::packed(all, 8, 0)});
  std::map<std::uint32_t, std::uint64_t> bytes;
  for (const auto& reading : readings({stored}, {wanted}, {{0, {12'800, 800}}})) {
    EXPECT_EQ(reading.users.size(), 4U);
    bytes[reading.reader] += reading.bytes;
  }
  for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(bytes[rank], 3200U);
}

TEST(Resharding, OfEqualsTakesAnotherOneEachTime) {
  const auto half = [&](std::uint64_t which) { return Box{1, {100 * which}, {100 * which + 100}}; };
  const StoredArray stored(8, {{0, half(0), 0}, {1, half(1), 0}});
  std::vector<WantedBox> wanted;
  for (std::uint32_t rank = 0; rank < 4; ++rank) wanted.push_back({rank, array::packed(half(rank / 2), 8, 0)});
  const auto all_readings = readings({stored}, {wanted}, {{0, {800, 800}}, {1, {800, 800}}});
  ASSERT_EQ(all_readings.size(), 2U);
  EXPECT_EQ(all_readings[0].reader, 0U);
  EXPECT_EQ(all_readings[1].reader, 3U);
}

TEST(Resharding, OnAsManyRanksInTheSameDivisionReadsNothingOfOthers) {
  const Box all = array::whole(std::array<std::uint64_t, 3>{64, 64, 64}, 8, "test").value();
  const auto grid = array::even_grid(all, 64);
  std::vector<StoredBox> boxes;
  StoredCaptures captures;
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    boxes.push_back({rank, array::block(all, grid, rank), 0});
    captures[rank] = {16 * 16 * 16 * 8, 4096};
  }
  const StoredArray stored(8, boxes);
  for (std::uint32_t rank = 0; rank < 64; ++rank)
    for (const auto& reading : readings({stored}, {{{rank, array::packed(boxes[rank].box, 8, 0)}}}, captures))
      EXPECT_EQ(reading.chunk.rank, rank);
}

}  // namespace
}  // namespace perdure::plan
