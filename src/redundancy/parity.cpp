// The schemes that keep parities of stripes, on the members of the group or on a server.
#include "redundancy/decoding.hpp"
#include "redundancy/registry.hpp"
#include "redundancy/stripes.hpp"

namespace perdure::redundancy {
namespace {

// A parity has the number of its stripe, and is named (stripe, index of the parity in it).
class StripeMap final : public BlockMap {
 public:
  explicit StripeMap(const Stripes& stripes) : stripes_(stripes) {}

  std::vector<Kept> kept(unsigned position, std::span<const std::uint64_t> blocks) const override {
    std::vector<Kept> all;
    if (position >= stripes_.n() && !at_server()) return all;
    const std::uint64_t parities = stripes_.parities_at(position, stripes_.count(blocks));
    for (std::uint64_t i = 0; i < parities; ++i) {
      const Place place = stripes_.parity_at(position, i);
      if (any_block(place.stripe, blocks)) all.push_back({position, place.stripe, place.stripe, place.index});
    }
    return all;
  }
  std::vector<Kept> kept_for(Block block) const override {
    const std::uint64_t stripe = stripes_.place(block).stripe;
    std::vector<Kept> all;
    for (unsigned j = 0; j < stripes_.m(); ++j) all.push_back({stripes_.parity_position(stripe, j), stripe, stripe, j});
    return all;
  }
  std::vector<Term> recipe(const Kept& kept) const override {
    std::vector<Term> terms;
    for (unsigned item = 0; item < stripes_.k(); ++item)
      terms.push_back({data(kept.stripe, item), coefficient(kept.index, item)});
    return terms;
  }
  // Uses the fewest items that suffice.
  base::Result<std::vector<Term>> rebuild(const GroupState& state, Block block) const override {
    const Place wanted = stripes_.place(block);
    Items available;
    for (unsigned item = 0; item < stripes_.k() + stripes_.m(); ++item)
      available[item] = item != wanted.index && there(state, wanted.stripe, item);
    PERDURE_TRY(const auto plan, plan_decoding(stripes_.k(), stripes_.m(), available, std::span(&wanted.index, 1)));
    std::vector<Term> terms;
    for (unsigned c = 0; c < plan.sources.size(); ++c) {
      const unsigned item = plan.sources[c];
      if (plan.coefficients.at(0, c) == 0 || is_empty(state, wanted.stripe, item)) continue;
      terms.push_back({item < stripes_.k() ? data(wanted.stripe, item) : parity(wanted.stripe, item - stripes_.k()),
                       plan.coefficients.at(0, c)});
    }
    return terms;
  }
  unsigned cycle() const override { return at_server() ? 1 : stripes_.k(); }

 private:
  bool at_server() const { return stripes_.k() == stripes_.n(); }
  Item data(std::uint64_t stripe, unsigned item) const {
    const Block block = stripes_.block({stripe, item});
    return {Item::Kind::data, block.position, block.number};
  }
  Item parity(std::uint64_t stripe, unsigned j) const {
    return {Item::Kind::kept, stripes_.parity_position(stripe, j), stripe};
  }
  // A stripe without any block has no parity either: nodes may have different amounts of data.
  bool any_block(std::uint64_t stripe, std::span<const std::uint64_t> blocks) const {
    for (unsigned item = 0; item < stripes_.k(); ++item) {
      const Block block = stripes_.block({stripe, item});
      if (block.number < blocks[block.position]) return true;
    }
    return false;
  }
  bool is_empty(const GroupState& state, std::uint64_t stripe, unsigned item) const {
    if (item >= stripes_.k()) return false;
    const Block block = stripes_.block({stripe, item});
    return block.number >= state.blocks[block.position];
  }
  bool there(const GroupState& state, std::uint64_t stripe, unsigned item) const {
    if (item >= stripes_.k()) return state.has_kept(stripes_.parity_position(stripe, item - stripes_.k()), stripe);
    return is_empty(state, stripe, item) || state.has_data(stripes_.block({stripe, item}));
  }

  Stripes stripes_;
};

std::shared_ptr<const BlockMap> distributed_map(unsigned n, unsigned m) {
  if (m == 0 || m > kMaxParities || m >= n || n > kMaxItems) return nothing_kept();
  return std::make_shared<StripeMap>(Stripes(n, m));
}

std::shared_ptr<const BlockMap> server_map(unsigned n, unsigned) {
  if (n == 0 || n >= kMaxItems) return nothing_kept();
  return std::make_shared<StripeMap>(Stripes::at_server(n));
}

// Counts the lost or damaged items of the stripe, parities included. A block that its position never had is not lost:
// it counts as empty, and all members know that.
unsigned missing_items(const Stripes& stripes, const GroupState& state, std::uint64_t stripe) {
  unsigned missing = 0;
  for (unsigned i = 0; i < stripes.k(); ++i) {
    const Block block = stripes.block({stripe, i});
    if (block.number < state.blocks[block.position] && !state.has_data(block)) ++missing;
  }
  for (unsigned j = 0; j < stripes.m(); ++j)
    if (!state.has_kept(stripes.parity_position(stripe, j), stripe)) ++missing;
  return missing;
}

Restoration restore_from_stripe(const Stripes& stripes, const GroupState& state, Block block) {
  if (state.has_data(block)) return {.how = Restoration::How::in_place, .position = block.position};
  const std::uint64_t stripe = stripes.place(block).stripe;
  const unsigned missing = missing_items(stripes, state, stripe);
  return {.how = missing <= stripes.m() ? Restoration::How::decode : Restoration::How::stripe_gone,
          .position = block.position,
          .stripe = stripe,
          .missing = missing,
          .parities = stripes.m()};
}

double parity_bytes(unsigned n, unsigned m) { return static_cast<double>(m) / (n - m); }

unsigned parity_losses(unsigned, unsigned m) { return m; }

bool parity_survives(unsigned, unsigned m, const Positions& lost) { return lost.count() <= m; }

Restoration restore_distributed(const GroupState& state, Block block) {
  return restore_from_stripe(Stripes(state.n, state.m), state, block);
}

unsigned one_loss(unsigned, unsigned) { return 1; }
double no_bytes_at_members(unsigned, unsigned) { return 0; }

// Survives the loss of one member, or of the server. Without the server nothing is rebuilt, but all members are there.
bool member_or_server(unsigned, unsigned, const Positions& lost) { return lost.count() <= 1; }

Restoration restore_with_server(const GroupState& state, Block block) {
  return restore_from_stripe(Stripes::at_server(state.n), state, block);
}

}  // namespace

// Distributes one parity per stripe over the group: keeps 1/(n-1) of each node's data, and survives one loss.
Scheme exclusive_or_parity() {
  return {.name = "xor",
          .summary = "the exclusive or of the group's data, distributed over its nodes",
          .when = When::while_captured,
          .at_server = false,
          .rereads = false,
          .min_size = 2,
          .max_size = kMaxItems,
          .min_parities = 1,
          .max_parities = 1,
          .losses = parity_losses,
          .kept_per_byte = parity_bytes,
          .survives = parity_survives,
          .restore = restore_distributed,
          .map = distributed_map};
}

// Distributes m parities per stripe over the group, and survives any m losses. With m = 1 it is xor, byte for byte.
Scheme reed_solomon() {
  Scheme scheme = exclusive_or_parity();
  scheme.name = "reed-solomon";
  scheme.summary = "several parities of the group's data, distributed over its nodes";
  scheme.max_parities = kMaxParities;
  return scheme;
}

// Keeps the group's parity on a server, which pulls the nodes' slots and keeps as much as the largest member has. The
// members keep and compute no redundancy. A member that is alone has a copy there.
Scheme parity_server() {
  return {.name = "parity-server",
          .summary = "the exclusive or of the group's data, on a server that reads it from the nodes",
          .when = When::while_captured,
          .at_server = true,
          .rereads = false,
          .min_size = 1,
          .max_size = kMaxItems - 1,
          .min_parities = 1,
          .max_parities = 1,
          .losses = one_loss,
          .kept_per_byte = no_bytes_at_members,
          .survives = member_or_server,
          .restore = restore_with_server,
          .map = server_map};
}

}  // namespace perdure::redundancy
