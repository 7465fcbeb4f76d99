#pragma once
// Which nodes make up a group. Nodes that fail together should be in different groups: members are from different
// failure domains of the outermost level that has enough of them.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::redundancy {

/// The failure domains of a node, from the innermost outwards: chassis, rack, switch. The node itself is not named. A
/// domain lies within the one outside it: chassis 3 of rack 1 is another one than chassis 3 of rack 2.
using Domains = std::vector<std::string>;

/// What a scheme asks of its groups.
struct GroupLimits {
  std::string_view scheme;
  unsigned min_size = 2, max_size = 64;
};

/// How close together the members of groups are, of one level of domains.
struct Sharing {
  unsigned most = 1;         ///< the most members of one group in one domain
  std::uint64_t groups = 0;  ///< how many groups have more than one member in a domain
};

struct GroupPlan {
  /// Node numbers, in the order of their positions. Every node is in one group. Neighbours (the last and the first are
  /// some, too) are of different domains wherever that can be, for schemes that keep copies at the next position.
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<Sharing> sharing;  ///< by level, innermost first. most == 1: no two members share a domain
  /// domains[level][node]: which domain of the level the node is in, by numbers from 0 on.
  std::vector<std::vector<std::uint32_t>> domains;
};

/// Plans the groups. `nodes[i]`: the domains of node i; all nodes name equally many. Sizes differ by one at most, and
/// are as close to `wanted` as possible; of two equally close ways, the one with larger groups (their members keep less
/// redundancy). A job with fewer nodes than wanted is one group. The same input gives the same groups. Errors:
/// PERDURE_INVALID_ARGUMENT (a wanted size that the scheme cannot have, nodes that name different numbers of domains),
/// PERDURE_UNSUPPORTED (too few nodes).
base::Result<GroupPlan> plan_groups(std::span<const Domains> nodes, unsigned wanted, const GroupLimits& limits);

}  // namespace perdure::redundancy
