#pragma once
// Decides on which branch this launch writes the versions of a name, and which line plain numbers mean. Rank 0 decides
// for all. (docs/adr/0052)
#include <string>
#include <vector>

#include "client/job.hpp"

namespace perdure::client {

/// Gives the branch for the next checkpoint of `name`, which this launch owns. The branch is decided at the first
/// checkpoint, and anew after each restore. From then on KnownVersions::check_free() knows the taken numbers of that
/// branch. Versions that stay behind are reported, and printed if the option `messages` asks for it. PERDURE_EXISTS: a
/// new start, and `new_start = refuse`. A store that cannot be read prevents no checkpoint: the branch is then a new
/// one.
base::Result<plan::Branch> branch_to_write(Job& job, const std::string& name);

/// [local] Records that the program's state is that of this attempt. This holds for later handles of the same process,
/// too.
void go_on_from(Job& job, const segment::VersionId& id);

/// [local] Tries once more to record forks before the handle goes, at rank 0.
void record_what_is_left(Job& job);

/// Facts that decide which line is current, besides this launch's own versions and those that its engines hold.
struct LineFacts {
  std::vector<store::VersionListing> listings;
  std::vector<plan::Fork> forks;
  std::vector<store::QuarantinedSegment> aside;  ///< quarantined segments; their versions were complete once
};
/// Gives the line of the newest attempt that is, or was, complete. If the last attempt that this launch went on from is
/// not on it, gives that attempt's line. Empty if there is none: then all attempts count.
plan::Line line_to_read(Job& job, const std::string& name, LineFacts facts);
/// Does the same with the facts that the store has now.
base::Result<plan::Line> line_to_read(Job& job, const std::string& name);

}  // namespace perdure::client
