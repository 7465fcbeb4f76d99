#pragma once
// Removes attempts from a posix store. Use it inside this module only.
#include <functional>

#include "base/result.hpp"
#include "store/posix_borrowed.hpp"
#include "store/posix_place.hpp"

namespace perdure::store {

/// Hides the attempt, then deletes it. Repeatable.
base::Status remove_attempt(const PosixPlace& place, const segment::VersionId& id);

/// Completes the removal of an attempt whose marker a killed process left; does nothing when there is none.
base::Status finish_removal(const PosixPlace& place, const segment::VersionId& id);

/// Makes the name a first start: marks it, then deletes the attempts up to this time. Repeatable.
base::Status forget_name(const PosixPlace& place, const std::string& name, std::uint64_t until_ns);
/// Gives the latest mark of a name; 0: none.
base::Result<std::uint64_t> forgotten(const PosixPlace& place, const std::string& name);
/// Finds it among the entries of the name's directory.
std::uint64_t latest_forgotten(const std::vector<os::Entry>& entries);

/// Removes an empty version's directory durably; success when it is gone or in use.
base::Status remove_if_empty(const PosixPlace& place, const segment::VersionId& id);

/// Opens it; empty if it is not there: somebody else removed it, or nobody made it.
base::Result<std::optional<os::Directory>> name_if_there(const PosixPlace& place, const std::string& name);
base::Result<std::optional<os::Directory>> version_if_there(const PosixPlace& place, const segment::VersionId& id);

/// Gives its entries; empty if it is not there, or is removed meanwhile.
base::Result<std::vector<os::Entry>> list_if_there(const std::optional<os::Directory>& directory);

/// Gives the temporary segments of one segment in its version's directory, by name: those of the place's writer, or
/// all.
enum class Written { by_this_writer, by_anybody };
base::Result<std::vector<std::string>> temporaries_of(const PosixPlace& place, Written written,
                                                      const os::Directory& version, const segment::VersionId& id,
                                                      std::uint32_t index, std::uint32_t count);
/// Removes a temporary segment unless its writer lives (it has it locked); true if it did.
base::Result<bool> remove_abandoned(const os::Directory& version, const std::string& temporary);

/// Does Store::clean for one name.
base::Status clean_name(const PosixPlace& place, const std::string& name, const Abandoned& abandoned);

}  // namespace perdure::store
