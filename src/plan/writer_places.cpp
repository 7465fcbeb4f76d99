#include "plan/writer_places.hpp"

namespace perdure::plan {

std::vector<std::uint32_t> place_writers(const PieceHolders& holders, std::uint32_t nodes) {
  std::vector<std::uint32_t> places(holders.ranks());
  for (std::uint32_t rank = 0; rank < holders.ranks(); ++rank) {
    const auto held = holders.of(rank);
    places[rank] =
        held.empty() ? static_cast<std::uint32_t>(std::uint64_t{rank} * nodes / holders.ranks()) : held.front();
  }
  return places;
}

}  // namespace perdure::plan
