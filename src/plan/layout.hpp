#pragma once
// Lays out the segments of a version and the ranks in each. Pure.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::plan {

struct SegmentPlan {
  std::uint32_t index = 0;  ///< among all segments of the version
  std::uint32_t count = 0;
  std::uint32_t node = 0;            ///< the node whose engine writes it
  std::vector<std::uint32_t> ranks;  ///< ascending
  friend bool operator==(const SegmentPlan&, const SegmentPlan&) = default;
};

/// A segment of a version that the store holds with a verified manifest, or that an engine is to write.
struct SegmentPart {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> ranks;  ///< ascending
};

/// The number of segments (option segment.per): one per node, one per rank, or a number for the whole job.
struct Aggregation {
  enum class Per { node, rank, number } per = Per::node;
  std::uint32_t number = 0;
};
base::Result<Aggregation> parse_aggregation(const std::string& text);

/// `node_of_rank[r]` is the node index of rank r. A segment never spans nodes, so that each node can write alone. The
/// result comes as close to the requested number as that allows: at least one per node that has ranks, at most one per
/// rank.
std::vector<SegmentPlan> lay_out_segments(const std::vector<std::uint32_t>& node_of_rank, Aggregation aggregation);

}  // namespace perdure::plan
