#pragma once
// For tests: a group of nodes in memory, encoded with the real code as a scheme says.
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/hash.hpp"
#include "redundancy/code.hpp"
#include "redundancy/copies.hpp"
#include "redundancy/reference.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

class Cluster {
 public:
  using Bytes = reference::Bytes;
  enum Sizes { even, uneven };  ///< blocks and their lengths: the same for all, or anything from none on

  Cluster(const Scheme& scheme, unsigned n, unsigned m, std::uint64_t seed, Sizes sizes)
      : scheme_(&scheme),
        n_(n),
        m_(m),
        stripes_(scheme.method == Method::parity ? Stripes(n, m) : Stripes::at_server(n)),
        code_(Code::make(stripes_.k(), stripes_.m()).value()) {
    fill(seed, sizes);
    if (scheme.method == Method::copy) copy();
    if (scheme.method == Method::parity || scheme.method == Method::server) encode();
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

  /// What can be known after a loss: hashes tell what is damaged.
  GroupState state(const Positions& lost) const {
    GroupState state{.n = n_, .m = m_, .blocks = blocks_, .lost = lost, .damaged = {}};
    for (const auto& [item, bytes] : items_)
      if (base::hash128(bytes) != hashes_->at(item)) state.damaged.insert(item);
    return state;
  }

  /// The block, as `how` says; nothing where that does not give what has its hash.
  std::optional<Bytes> restored(Block block, const Restoration& how, const GroupState& state) const {
    std::optional<Bytes> data;
    if (how.how == Restoration::How::in_place) data = items_.at({Item::Kind::data, block.position, block.number});
    if (how.how == Restoration::How::copy) data = items_.at({Item::Kind::kept, how.position, block.number});
    if (how.how == Restoration::How::decode || how.how == Restoration::How::stripe_gone) data = decoded(block, state);
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
  std::uint64_t kept_bytes(unsigned position) const { return bytes_of(Item::Kind::kept, position); }
  std::map<Item, Bytes> kept() const {
    auto kept = items_;
    std::erase_if(kept, [](const auto& item) { return item.first.kind != Item::Kind::kept; });
    return kept;
  }

 private:
  void fill(std::uint64_t seed, Sizes sizes) {
    std::mt19937_64 random(seed);
    const std::uint64_t cycle = scheme_->method == Method::parity ? stripes_.k() : 3, cycles = n_ <= 8 ? 2 : 1;
    for (unsigned p = 0; p < n_; ++p) {
      blocks_.push_back(sizes == even ? cycles * cycle : random() % (cycles * cycle + 1));
      for (std::uint64_t b = 0; b < blocks_[p]; ++b)
        items_[{Item::Kind::data, p, b}] = reference::random_bytes(sizes == even ? 40 : random() % 70, random);
    }
    if (blocks_[0] == 0) items_[{Item::Kind::data, 0, blocks_[0]++}] = reference::random_bytes(33, random);
  }

  void copy() {
    const auto own = items_;
    for (const auto& [item, bytes] : own)
      items_[{Item::Kind::kept, copy_position(n_, item.position), item.number}] = bytes;
  }

  /// What of a stripe is there by this state: spans, empty for what is not, and which are known.
  struct View {
    Items available;
    std::vector<base::ConstByteSpan> items;
    std::size_t longest = 0;
  };
  View view(std::uint64_t stripe, const GroupState& state) const {
    View view;
    for (unsigned i = 0; i < stripes_.k(); ++i) {
      const Block block = stripes_.block({stripe, i});
      const bool exists = block.number < blocks_[block.position];
      view.available[i] = !exists || state.has_data(block);
      view.items.emplace_back();
      if (exists && view.available[i]) view.items[i] = items_.at({Item::Kind::data, block.position, block.number});
      view.longest = std::max(view.longest, view.items[i].size());
    }
    for (unsigned j = 0; j < stripes_.m(); ++j) {
      const auto parity = items_.find({Item::Kind::kept, stripes_.parity_position(stripe, j), stripe});
      const bool there = parity != items_.end() && state.has_kept(parity->first.position, stripe);
      view.available[stripes_.k() + j] = there;
      view.items.emplace_back(there ? base::ConstByteSpan(parity->second) : base::ConstByteSpan());
    }
    return view;
  }

  void encode() {
    const GroupState all{.n = n_, .m = m_, .blocks = blocks_, .lost = {}, .damaged = {}};
    for (std::uint64_t stripe = 0; stripe < stripes_.count(blocks_); ++stripe) {
      const View data = view(stripe, all);
      std::vector<base::ByteSpan> parities;
      for (unsigned j = 0; j < stripes_.m(); ++j) {
        Bytes& parity = items_[{Item::Kind::kept, stripes_.parity_position(stripe, j), stripe}];
        parity.resize(data.longest);
        parities.emplace_back(parity);
      }
      if (!code_.encode(std::span(data.items).first(stripes_.k()), parities)) std::abort();
    }
  }

  /// The code is asked even where the scheme gave the block up: it must agree.
  std::optional<Bytes> decoded(Block block, const GroupState& state) const {
    const Place place = stripes_.place(block);
    const View view = this->view(place.stripe, state);
    Bytes data(original(block).size());
    const unsigned wanted[] = {place.index};
    const base::ByteSpan targets[] = {data};
    if (!code_.decode(view.available, view.items, wanted, targets)) return std::nullopt;
    return data;
  }

  std::uint64_t bytes_of(Item::Kind kind, unsigned position) const {
    std::uint64_t sum = 0;
    for (const auto& [item, bytes] : items_)
      if (item.kind == kind && item.position == position) sum += bytes.size();
    return sum;
  }

  const Scheme* scheme_;
  unsigned n_, m_;
  Stripes stripes_;
  Code code_;
  std::vector<std::uint64_t> blocks_;
  std::map<Item, Bytes> items_;
  std::shared_ptr<const std::map<Item, Bytes>> originals_;  // shared by copies, of which there are many
  std::shared_ptr<const std::map<Item, base::Hash128>> hashes_;
};

}  // namespace perdure::redundancy
