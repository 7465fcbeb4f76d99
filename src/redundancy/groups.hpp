#pragma once
// Chooses the nodes of each group. Nodes that fail together should be in different groups. So members come from
// different failure domains of the outermost level that has enough of them.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace perdure::redundancy {

/// The failure domains of a node, from the innermost outwards: chassis, rack, switch, without the node itself. A domain
/// lies within the one outside it: chassis 3 of rack 1 differs from chassis 3 of rack 2.
using Domains = std::vector<std::string>;

/// The limits that a scheme sets for its groups.
struct GroupLimits {
  std::string_view scheme;
  unsigned min_size = 2, max_size = 64;
};

/// How closely the members of groups share domains of one level.
struct Sharing {
  unsigned most = 1;         ///< the most members of one group in one domain
  std::uint64_t groups = 0;  ///< how many groups have more than one member in a domain
};

struct GroupPlan {
  /// Node numbers, in the order of their positions. Every node is in one group. Neighbours (also the last and the
  /// first) are of different domains wherever possible, for schemes that keep copies at the next position.
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<Sharing> sharing;  ///< by level, innermost first. most == 1: no two members share a domain
};

/// Plans the groups. `nodes[i]` has the domains of node i; all nodes name equally many. Sizes differ by at most one,
/// and are as close to `wanted` as possible. If two ways are equally close, it takes the larger groups, whose members
/// keep less redundancy. A job with fewer nodes than wanted is one group. The same input gives the same groups.
/// PERDURE_INVALID_ARGUMENT: the scheme cannot have the wanted size, or nodes name different numbers of domains.
/// PERDURE_UNSUPPORTED: there are too few nodes.
base::Result<GroupPlan> plan_groups(std::span<const Domains> nodes, unsigned wanted, const GroupLimits& limits);

}  // namespace perdure::redundancy
