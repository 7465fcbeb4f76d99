#include "ipc/guest_messages.hpp"

#include <algorithm>

namespace perdure::ipc {
namespace {

template <class List>
bool ascending(const List& list) {
  return std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end();
}

// Ranks ascend, so the last one is the greatest.
template <class List, class RankOf>
std::string wrong_wanted(const List& wanted, std::uint32_t ranks, RankOf rank_of) {
  if (!ascending(wanted)) return "field 'wanted' does not ascend";
  return wanted.empty() || rank_of(wanted.back()) < ranks ? "" : "field 'wanted': a rank is not below 'ranks'";
}

}  // namespace

std::string RecoverGuests::wrong() const {
  return wrong_wanted(wanted, ranks, [](const WantedChunk& chunk) { return chunk.rank; });
}

std::string DescribePieces::wrong() const {
  return wrong_wanted(wanted, ranks, [](std::uint32_t rank) { return rank; });
}

}  // namespace perdure::ipc
