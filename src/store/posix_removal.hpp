#pragma once
// Removal of attempts from a posix store. Inside this module only.
#include <functional>

#include "base/result.hpp"
#include "os/file.hpp"
#include "store/posix_layout.hpp"

namespace perdure::store {

/// Hides the attempt, then deletes it. Repeatable.
base::Status remove_attempt(const PosixLayout& layout, const segment::VersionId& id);

/// Completes the removal of an attempt whose marker a killed process left; nothing to do when there is none.
base::Status finish_removal(const PosixLayout& layout, const segment::VersionId& id);

/// Makes the name a first start: marks it, then deletes the attempts up to this time. Repeatable.
base::Status forget_name(const PosixLayout& layout, const std::string& name, std::uint64_t until_ns);
/// The latest mark of a name; 0: none.
base::Result<std::uint64_t> forgotten(const PosixLayout& layout, const std::string& name);
/// The same among the entries of the name's directory.
std::uint64_t latest_forgotten(const std::vector<os::Entry>& entries);

/// Removes an empty version's directory durably; success when it is gone or in use.
base::Status remove_if_empty(const PosixLayout& layout, const segment::VersionId& id);

/// The temporary segments that the layout's writer has of one segment, by path.
base::Result<std::vector<std::string>> temporaries_of(const PosixLayout& layout, const segment::VersionId& id,
                                                      std::uint32_t index, std::uint32_t count);
/// Removes a temporary segment unless its writer lives (it has it locked); true if it did.
base::Result<bool> remove_abandoned(const std::string& temporary);

using Abandoned = std::function<bool(const segment::VersionId&, std::uint32_t segment_index)>;
/// Store::clean for one name.
base::Status clean_name(const PosixLayout& layout, const std::string& name, const Abandoned& abandoned);

}  // namespace perdure::store
