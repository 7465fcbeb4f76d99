#include "redundancy/block_map.hpp"

#include <algorithm>

namespace perdure::redundancy {
namespace {

class NothingKept final : public BlockMap {
 public:
  std::vector<Kept> kept(unsigned, std::span<const std::uint64_t>) const override { return {}; }
  std::vector<Kept> kept_for(Block) const override { return {}; }
  std::vector<Term> recipe(const Kept&) const override { return {}; }
  base::Result<std::vector<Term>> rebuild(const GroupState&, Block block) const override {
    return base::fail(PERDURE_NOT_FOUND, "block " + std::to_string(block.number), "nothing is kept for it");
  }
};

}  // namespace

// Never destroyed: engines work until the process ends.
std::shared_ptr<const BlockMap> nothing_kept() {
  static const auto& kNothing = *new std::shared_ptr<const BlockMap>(std::make_shared<const NothingKept>());
  return kNothing;
}

Combination sum_of(std::span<const Term> terms) {
  std::vector<Symbol> factors;
  for (const Term& term : terms) factors.push_back(term.factor);
  return sum_of(std::move(factors));
}

Combination sum_of(std::vector<Symbol> factors) {
  const bool plain = std::all_of(factors.begin(), factors.end(), [](Symbol factor) { return factor == 1; });
  const auto columns = static_cast<unsigned>(factors.size());
  return {1, columns, std::move(factors), plain ? plain_kernels() : fastest_kernels()};
}

}  // namespace perdure::redundancy
