#pragma once
// Removal of attempts from a posix store. Inside this module only.
#include <functional>

#include "base/result.hpp"
#include "store/posix_layout.hpp"

namespace perdure::store {

/// Hides the attempt, then deletes it. Repeatable.
base::Status remove_attempt(const PosixLayout& layout, const segment::VersionId& id);

/// Completes the removal of an attempt whose marker a killed process left; nothing to do when there is none.
base::Status finish_removal(const PosixLayout& layout, const segment::VersionId& id);

/// Removes an empty version's directory durably; success when it is gone or in use.
base::Status remove_if_empty(const PosixLayout& layout, const segment::VersionId& id);

using Abandoned = std::function<bool(const segment::VersionId&, std::uint32_t segment_index)>;
/// Store::clean for one name.
base::Status clean_name(const PosixLayout& layout, const std::string& name, const Abandoned& abandoned);

}  // namespace perdure::store
