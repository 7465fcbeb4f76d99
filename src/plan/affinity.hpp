#pragma once
// Places the threads and pages of a captured process on a machine that may differ from the old one. Threads and pages
// that were together stay together. Pure. (Extends A. Saini, Affinity-Aware Checkpoint Restart, 2014, chapters 3 and 4,
// which resumes on the same machine.)
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace perdure::plan {

/// Numbers of hardware threads, ascending.
using Cpus = std::vector<unsigned>;

/// A machine as threads and pages see it. Each hardware thread belongs to one core.
struct Machine {
  struct Node {
    std::vector<Cpus> cores;  ///< hardware threads of each core; empty: memory alone
    std::uint64_t bytes = 0;  ///< of memory; 0: unknown
    friend bool operator==(const Node&, const Node&) = default;
    PERDURE_FIELDS(cores, bytes)
  };
  std::vector<Node> nodes;
  /// Distances of memory between nodes, as the firmware reports them: 10 is near. Empty: all others are equally far.
  std::vector<std::vector<unsigned>> distances;
  friend bool operator==(const Machine&, const Machine&) = default;
  PERDURE_FIELDS(nodes, distances)
};

/// The use that a process made of the machine.
struct MachineUsage {
  std::vector<Cpus> masks;           ///< per thread: where it may run
  std::vector<std::uint64_t> bytes;  ///< of pages, by node; missing ones are 0
};

struct AffinityPlan {
  std::vector<Cpus> masks;            ///< of each thread here, in the same order; never empty
  std::vector<std::size_t> nodes;     ///< by old node: the node here for its pages
  std::vector<std::string> together;  ///< for people: parts that were apart and are not any more
};

/// Plans the same places on the same machine. Otherwise each used node gets one of its own if there are enough. It has
/// room for its threads' cores and its pages, and near nodes stay near. If there are too few, the nearest old nodes
/// share one. Hardware threads of one core stay on one core as long as cores suffice. A mask of the whole machine, or
/// of a whole node, stays such a mask. `here` has at least one hardware thread.
AffinityPlan plan_affinity(const Machine& then, const MachineUsage& use, const Machine& here);

}  // namespace perdure::plan
