#pragma once
// Tests encode a group of nodes in memory with the real code, as a scheme says.
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/hash.hpp"
#include "redundancy/block_map.hpp"
#include "redundancy/reference_testing.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

class Cluster {
 public:
  using Bytes = reference::Bytes;
  enum Sizes { even, uneven };  ///< blocks and their lengths: the same for all, or any numbers from 0 on

  Cluster(const Scheme& scheme, unsigned n, unsigned m, std::uint64_t seed, Sizes sizes)
      : scheme_(&scheme), n_(n), m_(m), map_(scheme.map(n, m)) {
    fill(seed, sizes);
    encode();
    std::map<Item, base::Hash128> hashes;
    for (const auto& [item, bytes] : items_) hashes[item] = base::hash128(bytes);
    hashes_ = std::make_shared<const std::map<Item, base::Hash128>>(std::move(hashes));
    originals_ = std::make_shared<const std::map<Item, Bytes>>(items_);
  }

  unsigned n() const { return n_; }
  const Scheme& scheme() const { return *scheme_; }
  const Bytes& original(Block block) const { return originals_->at({Item::Kind::data, block.position, block.number}); }

  Cluster without(const Positions& lost) const {
    Cluster left = *this;
    std::erase_if(left.items_, [&](const auto& item) { return lost[item.first.position]; });
    return left;
  }

  /// Returns the knowledge after a loss: hashes tell which items are damaged.
  GroupState state(const Positions& lost) const {
    GroupState state{.n = n_, .m = m_, .blocks = blocks_, .lost = lost, .damaged = {}};
    for (const auto& [item, bytes] : items_)
      if (base::hash128(bytes) != hashes_->at(item)) state.damaged.insert(item);
    return state;
  }

  /// Restores the block as `how` says; nothing if the result does not match its hash.
  std::optional<Bytes> restored(Block block, const Restoration& how, const GroupState& state) const {
    std::optional<Bytes> data;
    if (how.how == Restoration::How::in_place) data = items_.at({Item::Kind::data, block.position, block.number});
    if (how.how != Restoration::How::in_place) data = rebuilt(block, state);
    const Item item{Item::Kind::data, block.position, block.number};
    if (data && base::hash128(*data) != hashes_->at(item)) data.reset();
    return data;
  }

  void flip_a_byte(std::mt19937_64& random) {
    auto item = std::next(items_.begin(), static_cast<std::ptrdiff_t>(random() % items_.size()));
    while (item->second.empty())
      if (++item == items_.end()) item = items_.begin();
    item->second[random() % item->second.size()] ^= std::byte(1 + random() % 255);
  }

  std::uint64_t own_bytes(unsigned position) const { return bytes_of(Item::Kind::data, position); }
  std::uint64_t redundancy_bytes(unsigned position) const { return bytes_of(Item::Kind::kept, position); }
  std::map<Item, Bytes> kept() const {
    auto kept = items_;
    std::erase_if(kept, [](const auto& item) { return item.first.kind != Item::Kind::kept; });
    return kept;
  }

 private:
  void fill(std::uint64_t seed, Sizes sizes) {
    std::mt19937_64 random(seed);
    const std::uint64_t cycle = map_->cycle() == 1 ? 3 : map_->cycle(), cycles = n_ <= 8 ? 2 : 1;
    for (unsigned p = 0; p < n_; ++p) {
      blocks_.push_back(sizes == even ? cycles * cycle : random() % (cycles * cycle + 1));
      for (std::uint64_t b = 0; b < blocks_[p]; ++b)
        items_[{Item::Kind::data, p, b}] = reference::random_bytes(sizes == even ? 40 : random() % 70, random);
    }
    if (blocks_[0] == 0) items_[{Item::Kind::data, 0, blocks_[0]++}] = reference::random_bytes(33, random);
  }

  /// Returns the sum, with `bytes` bytes.
  Bytes summed(const std::vector<Term>& terms, std::size_t bytes) const {
    std::vector<base::ConstByteSpan> sources;
    for (const Term& term : terms) {
      const auto item = items_.find(term.item);
      sources.push_back(item == items_.end() ? base::ConstByteSpan() : base::ConstByteSpan(item->second));
    }
    Bytes sum(bytes);
    const base::ByteSpan target(sum);
    sum_of(terms).apply(sources, std::span(&target, 1));
    return sum;
  }

  /// Includes the server's position if there is one.
  void encode() {
    for (unsigned position = 0; position < positions(*scheme_, n_); ++position)
      for (const Kept& kept : map_->kept(position, blocks_)) {
        const auto terms = map_->recipe(kept);
        std::size_t longest = 0;
        for (const Term& term : terms)
          if (const auto item = items_.find(term.item); item != items_.end())
            longest = std::max(longest, item->second.size());
        items_[{Item::Kind::kept, position, kept.number}] = summed(terms, longest);
      }
  }

  /// Asks the map even if the scheme gave the block up: the two must agree.
  std::optional<Bytes> rebuilt(Block block, const GroupState& state) const {
    const auto terms = map_->rebuild(state, block);
    if (!terms) return std::nullopt;
    for (const Term& term : *terms)
      if (!items_.contains(term.item) || state.damaged.contains(term.item)) std::abort();
    return summed(*terms, original(block).size());
  }

  std::uint64_t bytes_of(Item::Kind kind, unsigned position) const {
    std::uint64_t sum = 0;
    for (const auto& [item, bytes] : items_)
      if (item.kind == kind && item.position == position) sum += bytes.size();
    return sum;
  }

  const Scheme* scheme_;
  unsigned n_, m_;
  std::shared_ptr<const BlockMap> map_;
  std::vector<std::uint64_t> blocks_;
  std::map<Item, Bytes> items_;
  std::shared_ptr<const std::map<Item, Bytes>> originals_;  // shared by copies, of which there are many
  std::shared_ptr<const std::map<Item, base::Hash128>> hashes_;
};

}  // namespace perdure::redundancy
