// Counts, in the tables themselves, how much memory and messages an array needs at 524,288 ranks. There are 4,096 nodes
// of 128 ranks, a box for each rank, and common elements with 26 neighbours. (docs/adr/0056)
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "array/box_code.hpp"
#include "array/distribution.hpp"
#include "base/bytes.hpp"
#include "plan/node_wants.hpp"
#include "plan/shared_sum.hpp"
#include "support/sanitized.hpp"

namespace perdure::plan {
namespace {

class ArraysAtSize : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kNodes = 4096, kPerNode = 128, kRanks = kNodes * kPerNode, kElement = 8;

  array::Box box_of(std::uint64_t rank, std::uint64_t ranks) const {
    if (ranks != divided_) grid_ = array::even_grid(whole_, divided_ = ranks);
    return array::block(whole_, grid_, rank);
  }
  /// Returns the box with the seam around it.
  array::Box wanted_by(std::uint64_t rank, std::uint64_t ranks) const {
    return array::widened(box_of(rank, ranks), {1, 1, 1}, whole_);
  }
  std::vector<StoredBox> stored() const {
    std::vector<StoredBox> boxes;
    for (std::uint64_t rank = 0; rank < kRanks; ++rank)
      boxes.push_back({static_cast<std::uint32_t>(rank), box_of(rank, kRanks), 0});
    return boxes;
  }
  const array::Box whole_ = array::whole(std::vector<std::uint64_t>{2048, 2048, 2048}, kElement, "test").value();
  mutable std::uint64_t divided_ = 0;
  mutable array::Grid grid_;
};

/// A node during a restore.
struct Node {
  std::vector<std::vector<WantedBox>> wanted;
  std::vector<StoredArray> stored;  // the node keeps these
  std::uint64_t bytes_while_it_hears = 0, bytes = 0;
};

class RestoresAtSize : public ArraysAtSize {
 protected:
  /// Returns the node's tables as its ranks hear the boxes.
  Node restoring(std::uint64_t node, std::uint64_t ranks) const {
    NodeWants wants;
    for (std::uint64_t rank = node * kPerNode; rank < (node + 1) * kPerNode; ++rank)
      wants.add({static_cast<std::uint32_t>(rank), array::packed(wanted_by(rank, ranks), kElement, 0)});
    wants.all_are_there();
    std::vector<StoredBox> near;
    for (const StoredBox& one : all_)
      if (wants.meets(one.box)) near.push_back(one);
    near.shrink_to_fit();
    Node made;
    made.bytes_while_it_hears = wants.bytes() + near.size() * sizeof(StoredBox);
    made.wanted.push_back(wants.take());
    made.stored.emplace_back(kElement, std::move(near));
    made.bytes = made.wanted[0].capacity() * sizeof(WantedBox) + made.stored[0].bytes();
    return made;
  }
  void SetUp() override {
    if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
    all_ = stored();
  }
  std::vector<StoredBox> all_;
};

TEST_F(RestoresAtSize, KeepWhatTouchesTheirNodeOnHalfAsManyAsManyAndTwiceAsManyRanks) {
  constexpr std::uint64_t kPerRank = 4 * 64 * base::KiB, kOfNode = 4 * 64 * base::MiB;
  StoredCaptures captures;
  for (const StoredBox& one : all_) captures[one.rank] = {one.box.elements() * kElement, base::MiB};
  for (const std::uint64_t ranks : {kRanks / 2, kRanks, 2 * kRanks}) {
    const std::uint64_t nodes = ranks / kPerNode;
    for (const std::uint64_t number : {std::uint64_t{0}, nodes / 3, nodes / 2 + 17, nodes - 1}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, node " + std::to_string(number));
      const Node node = restoring(number, ranks);
      EXPECT_LE(node.bytes, kPerRank);
      EXPECT_LE(node.bytes_while_it_hears, kPerRank);
      EXPECT_LE(kPerNode * node.bytes, kOfNode);
      for (const WantedBox& want : node.wanted[0]) {
        const auto found = cover(node.stored[0], want.memory.box, 1);
        ASSERT_TRUE(!found.hole && found.overlaps.empty()) << "each element is there, once";
      }
      EXPECT_EQ(readings(node.stored, node.wanted, captures).size(), node.stored[0].stored().size())
          << "it keeps nothing that it does not read";
    }
  }
}

// Each rank kept so much before.
TEST_F(RestoresAtSize, WouldKeepAThousandTimesAsMuchOfAll) {
  EXPECT_GT(StoredArray(kElement, all_).bytes(), 100'000'000U);
}

TEST_F(ArraysAtSize, ACheckpointSaysAFewWordsOfAllSeamsAndKeepsThoseWithNeighbours) {
  if (test_support::left_to_plain()) GTEST_SKIP() << test_support::kLeftToPlain;
  const std::uint64_t said = SharedSum::kWords * sizeof(std::uint64_t);
  EXPECT_LE(kPerNode * said, base::MiB);
  struct Shared {  // capture::ArrayPart has the same fields
    std::size_t number;
    array::Box box;
  };
  std::size_t most = 0;
  for (const std::uint64_t rank : {std::uint64_t{0}, kRanks / 2 + 64 * 32 + 33, kRanks - 1}) {
    const array::Box mine = wanted_by(rank, kRanks);
    std::size_t neighbours = 0;
    for (std::uint64_t other = 0; other < kRanks; ++other)
      if (other != rank && array::intersection(mine, box_of(other, kRanks))) ++neighbours;
    most = std::max(most, neighbours);
  }
  EXPECT_EQ(most, 26U);
  EXPECT_LE(most * (sizeof(Shared) + 64), 64 * base::KiB);
}

// ADR 0056 leaves this open. A change that brings it below a node's limit inverts this expectation.
TEST_F(ArraysAtSize, BoxesAreStillHeardByEveryRank) {
  const std::uint64_t a_box = array::encode_boxes({box_of(kRanks / 2, kRanks)}).size();
  EXPECT_GT(kRanks * a_box, base::MiB) << "of one array, without lengths";
}

}  // namespace
}  // namespace perdure::plan
