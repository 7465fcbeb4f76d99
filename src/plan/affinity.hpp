#pragma once
// Where threads and pages of a process belong on a machine that may be another one than that which they were captured
// on: what was together stays together. Pure. (Goes on from A. Saini, Affinity-Aware Checkpoint Restart, 2014, chapters
// 3 and 4, which come back to the same machine.)
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace perdure::plan {

/// Numbers of hardware threads, ascending.
using Cpus = std::vector<unsigned>;

/// A machine as threads and pages see it. Each hardware thread is in one core.
struct Machine {
  struct Node {
    std::vector<Cpus> cores;  ///< hardware threads of each core; none of them: a node of memory alone
    std::uint64_t bytes = 0;  ///< of memory; 0: not known
    friend bool operator==(const Node&, const Node&) = default;
    PERDURE_FIELDS(cores, bytes)
  };
  std::vector<Node> nodes;
  /// Of memory, between nodes, as the firmware says them: 10 is near. Empty: all others are equally far.
  std::vector<std::vector<unsigned>> distances;
  friend bool operator==(const Machine&, const Machine&) = default;
  PERDURE_FIELDS(nodes, distances)
};

/// What a process had there.
struct MachineUsage {
  std::vector<Cpus> masks;           ///< of each thread: where it may run
  std::vector<std::uint64_t> bytes;  ///< of pages, by node; what is missing is 0
};

struct AffinityPlan {
  std::vector<Cpus> masks;            ///< of each thread here, in the same order; never empty
  std::vector<std::size_t> nodes;     ///< by node of then: to which one here its pages go
  std::vector<std::string> together;  ///< what was apart and is not any more; for people
};

/// The same machine gives the same places. Else each node that was used gets one of its own where there are enough, so
/// that its threads' cores and its pages have room there, and near nodes are near; of too many nodes those that were
/// nearest go together. Hardware threads of one core stay on one core as long as cores suffice. A mask of all of the
/// machine, or of all of a node, means that, and stays one. `here` has at least one hardware thread.
AffinityPlan plan_affinity(const Machine& then, const MachineUsage& use, const Machine& here);

}  // namespace perdure::plan
