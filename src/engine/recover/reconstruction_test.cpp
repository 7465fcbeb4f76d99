// Compares what can be recovered after losses with what the schemes and the session's plan promise. Blocks made from
// the named sources must equal the lost ones.
#include "engine/recover/reconstruction.hpp"

#include <gmock/gmock.h>

#include "engine/recover/exported_pieces_testing.hpp"
#include "plan/recovery.hpp"

namespace perdure::engine {
namespace {

using redundancy::Item;
using From = plan::PieceSource;

/// The inventory that the session makes of exported pieces.
plan::VersionInventory inventory_of(const std::vector<ExportedPieces>& exports, std::uint32_t ranks) {
  plan::VersionInventory inventory;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
  for (std::uint32_t node = 0; node < exports.size(); ++node) {
    for (const auto& held : exports[node].pieces) pieces.emplace_back(held.piece.rank, node);
    for (const auto& part_of : exports[node].parts) {
      const auto kept = summary_of(part_of.redundancy_set);
      plan::RedundancyShare part{node, kept.epoch, kept.group, kept.scheme, kept.parities, kept.position, {}, {}};
      for (const auto& position : kept.members) {
        std::vector<plan::ReplicatedRank> members;
        for (const auto& member : position) members.push_back({member.rank, member.chunks});
        part.members.emplace_back(members);
      }
      part.missing = base::Runs<std::uint64_t>(kept.missing);
      inventory.kept.push_back(std::move(part));
    }
  }
  inventory.holders = plan::PieceHolders(ranks, std::move(pieces));
  return inventory;
}

/// True if all chunks of a rank can be recovered. Each that can must equal the original.
bool whole(const ExportedGroup& group, const Reconstruction& reconstruction, std::uint32_t rank) {
  const auto piece = reconstruction.piece(rank);
  if (!piece) {
    EXPECT_EQ(piece.error().code, PERDURE_NOT_FOUND);
    return false;
  }
  EXPECT_EQ(*piece, group.piece(rank));
  bool all = true;
  for (std::uint32_t c = 0; c < piece->chunks.size(); ++c) {
    const auto task = reconstruction.task(rank, c);
    all = all && task.has_value();
    if (task) {
      EXPECT_EQ(group.done(*task), group.content(rank, c)) << "rank " << rank << ", chunk " << c;
    } else {
      EXPECT_EQ(task.error().code, PERDURE_CORRUPT);
      EXPECT_FALSE(task.error().cause.empty());
    }
  }
  return all;
}

class ReconstructionOf : public testing::TestWithParam<ExportedShape> {};
INSTANTIATE_TEST_SUITE_P(Groups, ReconstructionOf, testing::ValuesIn(exported_shapes()),
                         [](const auto& tested) { return exported_shape_name(tested.param); });

TEST_P(ReconstructionOf, AfterEveryLossItDoesWhatThePlanPromises) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ExportedGroup group(GetParam(), seed);
    for (std::uint64_t set = 0; set < 1ULL << GetParam().n; ++set) {
      const redundancy::Positions lost(set);
      const auto exports = group.exports(lost);
      const Reconstruction reconstruction(exports);
      const auto plan = plan::plan_recovery(inventory_of(exports, group.ranks()), {}).of_rank;
      bool any_gone = false;
      for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
        const bool had = whole(group, reconstruction, rank);
        ASSERT_EQ(had, plan[rank] != From::nowhere) << "seed " << seed << ", lost " << lost << ", rank " << rank;
        for (std::uint32_t c = 0; had && c < group.piece(rank).chunks.size(); ++c)
          EXPECT_EQ(reconstruction.task(rank, c)->rebuilt, plan[rank] == From::rebuild);
        any_gone = any_gone || !had;
      }
      ASSERT_TRUE(!group.scheme().survives(GetParam().n, GetParam().m, lost) || !any_gone) << lost;
    }
  }
}

/// Returns the exports of nodes that are asked only for what these ranks need.
std::vector<ExportedPieces> asked_for(const std::vector<ExportedPieces>& all, std::uint32_t ranks,
                                      const std::vector<std::uint32_t>& wanted) {
  const auto among = [](const std::vector<std::uint32_t>& some, std::uint32_t rank) {
    return std::find(some.begin(), some.end(), rank) != some.end();
  };
  std::vector<ExportedPieces> exported;
  for (const auto& question : plan::nodes_to_ask(inventory_of(all, ranks), wanted)) {
    ExportedPieces& node = exported.emplace_back(all[question.node]);
    std::erase_if(node.pieces, [&](const auto& piece) { return !among(question.pieces, piece.piece.rank); });
    std::erase_if(node.parts, [&](const auto& part) {
      const auto& members = part.redundancy_set.members;
      return std::none_of(members.begin(), members.end(), [&](const auto& pieces) {
        return std::any_of(pieces.begin(), pieces.end(),
                           [&](const auto& piece) { return among(question.redundancy, piece.rank); });
      });
    });
  }
  return exported;
}

TEST_P(ReconstructionOf, WhatTheNodesAreAskedForIsEnough) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ExportedGroup group(GetParam(), seed);
    for (std::uint64_t set = 0; set < 1ULL << GetParam().n; ++set) {
      const auto exports = group.exports(redundancy::Positions(set));
      const Reconstruction of_all(exports);
      for (std::uint32_t rank = 0; rank < group.ranks(); ++rank) {
        const auto exported = asked_for(exports, group.ranks(), {rank});
        ASSERT_EQ(whole(group, Reconstruction(exported), rank), whole(group, of_all, rank))
            << seed << ", rank " << rank;
      }
    }
  }
}

/// Asks for everything once, so that no state is built for the first time after a loss.
void ask_for_all(const ExportedGroup& group, const Reconstruction& reconstruction) {
  for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
    for (std::uint32_t c = 0; c < group.piece(rank).chunks.size(); ++c) (void)reconstruction.task(rank, c);
}

/// Damages the sources of a chunk one after the other until it cannot be recovered any more. By then as many are
/// damaged as the scheme promises to survive.
void use_up(const ExportedGroup& group, const redundancy::Positions& lost, std::uint32_t rank, std::uint32_t chunk,
            std::mt19937_64& random) {
  const auto exports = group.exports(lost);
  Reconstruction reconstruction(exports);
  ask_for_all(group, reconstruction);
  auto state = group.state(lost);
  const auto block = group.block(rank, chunk);
  for (;;) {
    const auto task = reconstruction.task(rank, chunk);
    ASSERT_EQ(task.has_value(), redundancy::restorable(group.scheme().restore(state, block)));
    if (!task) return;
    ASSERT_EQ(group.done(*task), group.content(rank, chunk));
    ASSERT_FALSE(task->task.sources.empty());
    for (const auto& source : task->task.sources) ASSERT_FALSE(state.damaged.contains(group.item(source.place)));
    const auto& source = task->task.sources[random() % task->task.sources.size()];
    state.damaged.insert(group.item(source.place));
    reconstruction.damaged(source);
  }
}

TEST_P(ReconstructionOf, WhatIsDamagedIsLeftOutUntilNothingElseIsLeft) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const ExportedGroup group(GetParam(), seed);
    for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
      for (std::uint32_t c = 0; c < group.piece(rank).chunks.size(); ++c)
        for (unsigned lost = 0; lost <= GetParam().n; ++lost) {
          redundancy::Positions positions;
          if (lost < GetParam().n) positions.set(lost);
          use_up(group, positions, rank, c, random);
          if (HasFatalFailure()) FAIL() << "seed " << seed << ", lost " << positions;
        }
  }
}

TEST_P(ReconstructionOf, AHolderThatIsGoneIsALossOfItsPosition) {
  const ExportedGroup group(GetParam(), 5);
  for (unsigned gone = 0; gone < GetParam().n; ++gone) {
    redundancy::Positions lost;
    lost.set(gone);
    const auto all = group.exports({}), left = group.exports(lost);
    Reconstruction told(all);
    const Reconstruction without(left);
    told.gone(gone);
    for (std::uint32_t rank = 0; rank < group.ranks(); ++rank)
      for (std::uint32_t c = 0; c < group.piece(rank).chunks.size(); ++c) {
        const auto task = told.task(rank, c);
        ASSERT_EQ(task.has_value(), without.task(rank, c).has_value());
        if (!task) continue;
        EXPECT_EQ(group.done(*task), group.content(rank, c));
        for (const auto& source : task->task.sources) EXPECT_NE(source.holder, gone);
      }
  }
}

ExportedGroup four(const char* scheme, std::uint64_t epoch = 1) { return {{scheme, 4, 1}, 11, epoch}; }

TEST(Reconstruction, OfTwoEpochsWhicheverIsEnoughIsTaken) {
  const ExportedGroup stripes = four("xor", 1), copies = four("buddy", 2);
  unsigned only_stripes = 0, only_copies = 0;
  for (const std::uint64_t set : {0b0001ULL, 0b0101ULL})
    for (const bool stripes_first : {true, false}) {
      const redundancy::Positions lost(set);
      auto first = stripes.exports(lost), second = copies.exports(lost);
      if (set == 1) second[0].parts.clear();  // the copies of position 0
      auto both = stripes_first ? first : second;
      for (std::size_t i = 0; i < both.size(); ++i)
        for (const auto& part : (stripes_first ? second : first)[i].parts) both[i].parts.push_back(part);
      const Reconstruction from_stripes(first), from_copies(second), from_both(both);
      for (std::uint32_t rank = 0; rank < stripes.ranks(); ++rank)
        for (std::uint32_t c = 0; c < stripes.piece(rank).chunks.size(); ++c) {
          const bool a = from_stripes.task(rank, c).has_value(), b = from_copies.task(rank, c).has_value();
          const auto task = from_both.task(rank, c);
          ASSERT_EQ(task.has_value(), a || b) << lost;
          only_stripes += a && !b ? 1 : 0;
          only_copies += b && !a ? 1 : 0;
          if (!task) continue;
          EXPECT_EQ(stripes.with(copies).done(*task), stripes.content(rank, c));
        }
    }
  EXPECT_GT(only_stripes, 0U);
  EXPECT_GT(only_copies, 0U);
}

TEST(Reconstruction, DataThatIsNotWhatWasEncodedIsNoSource) {
  const ExportedGroup group = four("xor");
  const auto good = group.exports(redundancy::Positions(1));
  auto changed = good;
  for (auto& node : changed)
    for (auto& piece : node.pieces)
      for (auto& entry : piece.piece.chunks) entry.hash = base::hash128({});
  const Reconstruction from_good(good), from_changed(changed);
  const std::uint32_t rank = group.of_position(0).first;
  unsigned refused = 0;
  for (std::uint32_t c = 0; c < group.piece(rank).chunks.size(); ++c) {
    const auto task = from_good.task(rank, c), other = from_changed.task(rank, c);
    ASSERT_TRUE(task);
    EXPECT_EQ(other.has_value(), task->task.sources.size() == 1) << "the parity, with nothing else in its stripe";
    if (other) continue;
    EXPECT_THAT(other.error().cause, testing::HasSubstr("lacks"));
    ++refused;
  }
  EXPECT_GT(refused, 0U);
}

TEST(Reconstruction, APieceOfWhichNobodyHasAnythingIsNotFound) {
  const std::vector<ExportedPieces> none;
  EXPECT_EQ(Reconstruction(none).piece(0).error().code, PERDURE_NOT_FOUND);
  EXPECT_EQ(Reconstruction(none).task(0, 0).error().code, PERDURE_CORRUPT);
  const auto exports = four("xor").exports({});
  EXPECT_EQ(Reconstruction(exports).piece(1000).error().code, PERDURE_NOT_FOUND);
}

TEST(Reconstruction, AChunkThatThePieceDoesNotHaveIsRefused) {
  const ExportedGroup group = four("xor");
  const auto exports = group.exports(redundancy::Positions(1));
  const auto [rank, chunk] = group.of_position(0);
  ASSERT_TRUE(Reconstruction(exports).task(rank, chunk));
  const auto refused = Reconstruction(exports).task(rank, 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_CORRUPT);
}

TEST(Reconstruction, AnUnknownSchemeRebuildsNothingAndLeavesWhatIsInPlace) {
  const ExportedGroup group = four("xor");
  auto exports = group.exports(redundancy::Positions(1));
  for (auto& node : exports)
    for (auto& part : node.parts) part.redundancy_set.scheme = "surprise";
  const Reconstruction reconstruction(exports);
  const auto [rank, chunk] = group.of_position(0);
  EXPECT_THAT(reconstruction.task(rank, chunk).error().cause, testing::HasSubstr("unknown scheme"));
  ASSERT_GT(group.state({}).blocks[1], 0U);
  const auto [other, first] = group.of_position(1);
  EXPECT_TRUE(reconstruction.task(other, first));
}

}  // namespace
}  // namespace perdure::engine
