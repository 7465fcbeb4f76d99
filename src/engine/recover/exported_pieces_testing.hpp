#pragma once
// For tests: makes a group in memory whose members export all they have: random pieces, and redundancy by the plain
// rule.
#include <gtest/gtest.h>

#include <random>

#include "engine/ledger/redundancy_share.hpp"
#include "engine/recover/reconstruction.hpp"
#include "redundancy/reference_testing.hpp"
#include "redundancy/registry.hpp"

namespace perdure::engine {

struct ExportedShape {
  std::string scheme;
  unsigned n = 0, m = 0;
};

/// All schemes whose members keep everything, in small groups.
inline std::vector<ExportedShape> exported_shapes() {
  std::vector<ExportedShape> all;
  for (const auto& scheme : redundancy::schemes())
    for (unsigned n = 2; n <= 4 && !scheme.at_server; ++n)
      for (unsigned m = scheme.min_parities; m <= std::min(n - 1, scheme.max_parities); ++m)
        all.push_back({scheme.name, n, m});
  return all;
}

inline std::string exported_shape_name(const ExportedShape& shape) {
  std::string name = shape.scheme + "_" + std::to_string(shape.n) + "_" + std::to_string(shape.m);
  std::erase(name, '-');
  return name;
}

class ExportedGroup {
 public:
  using Bytes = std::vector<std::byte>;
  using Item = redundancy::Item;
  /// Makes the same pieces for the same n and seed, whatever the scheme and the epoch. Each position has up to two
  /// ranks with up to four chunks each; position 0 has some.
  ExportedGroup(const ExportedShape& shape, std::uint64_t seed, std::uint64_t epoch = 1)
      : scheme_(*redundancy::find_scheme(shape.scheme)) {
    protection_ = {{{"app", 1, {1, 1}}, epoch}, 0, 0, shape.scheme, shape.m, 0, {}, {}, false};
    std::mt19937_64 random(seed);
    std::vector<std::vector<Bytes>> contents;  // by rank
    for (unsigned p = 0; p < shape.n; ++p) {
      protection_.members.emplace_back();
      for (std::uint64_t ranks = (p == 0 ? 1 : 0) + random() % 2; ranks > 0; --ranks)
        contents.push_back(add_rank(p, random));
    }
    for (std::uint32_t rank = 0; rank < contents.size(); ++rank)
      for (std::uint32_t c = 0; c < contents[rank].size(); ++c) {
        const auto [position, number] = block(rank, c);
        put({Item::Kind::data, position, number}, std::move(contents[rank][c]));
      }
    encode();
  }

  const redundancy::Scheme& scheme() const { return *scheme_; }
  std::uint32_t ranks() const { return protection_.ranks; }
  const segment::Piece& piece(std::uint32_t rank) const {
    return protection_.members[at_[rank].first][at_[rank].second];
  }
  const Bytes& content(std::uint32_t rank, std::uint32_t chunk) const {
    const auto [position, number] = block(rank, chunk);
    return bytes_.at(place({Item::Kind::data, position, number}));
  }
  redundancy::Block block(std::uint32_t rank, std::uint32_t chunk) const {
    const auto [position, index] = at_[rank];
    return {position, orders()[position].block({index, chunk})};
  }
  /// Returns a chunk of a position that has one.
  std::pair<std::uint32_t, std::uint32_t> of_position(unsigned position) const {
    const auto where = orders()[position].chunk(0);
    return {protection_.members[position][where.rank].rank, static_cast<std::uint32_t>(where.chunk)};
  }
  /// Returns the exports of the positions that are left.
  std::vector<ExportedPieces> exports(const redundancy::Positions& lost) const {
    std::vector<ExportedPieces> exports;
    for (unsigned p = 0; p < protection_.members.size(); ++p)
      if (!lost[p]) exports.push_back(exported_by(p));
    return exports;
  }
  redundancy::GroupState state(const redundancy::Positions& lost) const {
    redundancy::GroupState state{static_cast<unsigned>(protection_.members.size()), protection_.parities, {}, lost, {}};
    for (const auto& order : orders()) state.blocks.push_back(order.count());
    return state;
  }
  const Bytes& bytes(const BlockPlace& place) const { return bytes_.at(place); }
  /// Returns the item at this place.
  Item item(const BlockPlace& place) const { return items_.at(place); }
  /// Returns this group with the redundancy of the other one added.
  ExportedGroup with(const ExportedGroup& other) const {
    ExportedGroup both = *this;
    both.bytes_.insert(other.bytes_.begin(), other.bytes_.end());
    return both;
  }
  /// Executes the task and returns the block made from its sources. Checks their lengths and hashes.
  Bytes done(const ReconstructionTask& task) const {
    for (const auto& source : task.task.sources) {
      EXPECT_EQ(bytes_.at(source.place).size(), source.length);
      EXPECT_EQ(base::hash128(bytes_.at(source.place)), source.hash);
    }
    Bytes made(task.task.length);
    for (const auto& source : task.task.sources) {
      Bytes part = bytes_.at(source.place);
      part.resize(made.size());
      redundancy::reference::add_product(made, source.factor, part);
    }
    EXPECT_TRUE(task.rebuilt || task.task.sources.size() == 1);
    EXPECT_EQ(made.size(), task.task.length);
    EXPECT_EQ(base::hash128(made), task.task.hash);
    return made;
  }

 private:
  std::vector<Bytes> add_rank(unsigned position, std::mt19937_64& random) {
    segment::Piece piece{protection_.ranks++, 64, {}, {}};
    std::vector<Bytes> contents;
    std::uint64_t total = 0;
    const std::uint64_t chunks = position == 0 ? 1 + random() % 4 : random() % 5;
    for (std::uint64_t c = 0; c < chunks; ++c) {
      contents.emplace_back(c + 1 < chunks ? 64 : 1 + random() % 64);
      for (auto& byte : contents.back()) byte = static_cast<std::byte>(random());
      piece.chunks.push_back({0, contents.back().size(), base::hash128(contents.back()), 0});
      total += contents.back().size();
    }
    piece.regions = {{0, 1, total}};
    at_.push_back({position, static_cast<std::uint32_t>(protection_.members[position].size())});
    protection_.members[position].push_back(std::move(piece));
    return contents;
  }
  // Encodes by the slow rule: term by term, symbol by symbol.
  void encode() {
    const auto n = static_cast<unsigned>(protection_.members.size());
    const auto map = scheme_->map(n, protection_.parities);
    const auto blocks = state({}).blocks;
    for (unsigned position = 0; position < n; ++position)
      for (const auto& kept : map->kept(position, blocks)) {
        Bytes sum;
        for (const auto& term : map->recipe(kept)) {
          const auto item = bytes_.find(place(term.item));
          if (item == bytes_.end()) continue;
          sum.resize(std::max(sum.size(), item->second.size()));
          redundancy::reference::add_product(sum, term.factor, item->second);
        }
        const catalog::BlockName name{kept.stripe, kept.index};
        kept_[position][name] = {0, sum.size(), base::hash128(sum), 0};
        numbers_[{position, name}] = kept.number;
        put({Item::Kind::kept, position, kept.number}, sum);
      }
  }
  ExportedPieces exported_by(unsigned position) const {
    ExportedPieces exported{{std::byte(position)}, {}, {}};
    const auto& pieces = protection_.members[position];
    for (std::uint32_t i = 0; i < pieces.size(); ++i) {
      exported.pieces.push_back({pieces[i], {}});
      for (std::uint64_t c = 0; c < pieces[i].chunks.size(); ++c)
        exported.pieces.back().places.emplace_back(
            place({Item::Kind::data, position, orders()[position].block({i, c})}));
    }
    if (!redundancy::keeps_redundancy(*scheme_)) return exported;
    exported.parts.push_back({protection_, {}});
    auto& [redundancy_set, places] = exported.parts.back();
    redundancy_set.position = position;
    if (const auto kept = kept_.find(position); kept != kept_.end()) redundancy_set.kept = kept->second;
    for (const auto& [name, chunk] : redundancy_set.kept)
      places[name] = place({Item::Kind::kept, position, numbers_.at({position, name})});
    return exported;
  }
  std::vector<redundancy::BlockOrder> orders() const { return block_orders(protection_.members); }
  /// Names a memory for each position, epoch and kind; the item's number is the offset.
  BlockPlace place(const Item& item) const {
    const bool kept = item.kind == Item::Kind::kept;
    const std::uint64_t epoch = kept ? protection_.id.epoch : 0;
    return {{std::byte(item.position), std::byte(kept), std::byte(epoch)}, item.number};
  }
  void put(const Item& item, Bytes bytes) {
    items_[place(item)] = item;
    bytes_[place(item)] = std::move(bytes);
  }

  std::vector<std::pair<unsigned, std::uint32_t>> at_;                          // by rank: position, index
  std::map<unsigned, std::map<catalog::BlockName, segment::ChunkEntry>> kept_;  // by position
  std::map<std::pair<unsigned, catalog::BlockName>, std::uint64_t> numbers_;  // of kept blocks: the number of the item
  std::map<BlockPlace, Bytes> bytes_;
  std::map<BlockPlace, Item> items_;
  const redundancy::Scheme* scheme_;
  catalog::RedundancySet protection_;
};

}  // namespace perdure::engine
