#include "ipc/group_messages.hpp"

#include <algorithm>

namespace perdure::ipc {
namespace {

constexpr std::size_t kMostPositions = 64, kMostAddressBytes = 4096, kMostNameBytes = 1024;

template <class List>
bool longer(const List& list, std::size_t most) {
  return std::any_of(list.begin(), list.end(), [most](const auto& item) { return item.size() > most; });
}

}  // namespace

std::string Join::wrong() const {
  if (longer(addresses, kMostAddressBytes)) return "field 'addresses': an address has more than 4096 bytes";
  if (addresses.size() > kMostPositions || position >= addresses.size())
    return "field 'position' is not one of at most 64 addresses";
  if (longer(nodes, kMostNameBytes)) return "field 'nodes' holds something that is no name";
  if (!nodes.empty() && nodes.size() != addresses.size())
    return "field 'nodes' does not name as many as there are addresses";
  return {};
}

std::string NodeToAsk::wrong() const {
  if (address.size() > kMostAddressBytes) return "field 'address' has more than 4096 bytes";
  return node.size() <= kMostNameBytes ? "" : "field 'node' is no name";
}

std::string Recover::wrong() const {
  const bool known = std::all_of(wanted.begin(), wanted.end(), [this](std::uint32_t rank) { return rank < ranks; });
  return known ? "" : "field 'wanted': a rank is not below 'ranks'";
}

}  // namespace perdure::ipc
