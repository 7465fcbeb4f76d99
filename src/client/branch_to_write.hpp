#pragma once
// On which branch this launch writes the versions of a name, and which line plain numbers mean. Rank 0 decides for all.
// (docs/adr/0052)
#include <string>
#include <vector>

#include "client/job.hpp"

namespace perdure::client {

/// For the next checkpoint of `name`, which this launch owns. Decided at the first one, and anew after each restore;
/// from then on KnownVersions::check_free() knows what is taken on that branch. What stays behind is reported, and said
/// where the option `messages` wants that. PERDURE_EXISTS: a new start, and `new_start = refuse`. A store that cannot
/// be read does not keep anybody from writing: then it is a new branch.
base::Result<plan::Branch> branch_to_write(Job& job, const std::string& name);

/// [local] The program's state is that of this attempt. So it is for a handle that the same process opens later.
void go_on_from(Job& job, const segment::VersionId& id);

/// [local] Before the handle goes, at rank 0: forks that could not be recorded are tried once more.
void record_what_is_left(Job& job);

/// What decides which line is current, beside what this launch did and its engines hold.
struct LineFacts {
  std::vector<store::VersionListing> listings;
  std::vector<plan::Fork> forks;
  std::vector<store::QuarantinedSegment> aside;  ///< what was set aside was complete once
};
/// The line of the newest attempt that is, or was, complete; that of what this launch went on from last, if that is not
/// on it. Empty where there is none: then all attempts count.
plan::Line line_to_read(Job& job, const std::string& name, LineFacts facts);
/// The same, of what the store says now.
base::Result<plan::Line> line_to_read(Job& job, const std::string& name);

}  // namespace perdure::client
