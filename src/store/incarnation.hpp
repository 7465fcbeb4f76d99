#pragma once
// An incarnation tells a name's place in a store from one that is put in its stead later. For stores that have a
// directory for each name, it is a random number in the file `.incarnation` there. It goes with the directory, and with
// nothing else.
#include <cstdint>
#include <string>

#include "os/directory.hpp"

namespace perdure::store {

/// Draws the content of a new record.
std::string drawn_incarnation();
/// The number that a record of this content stands for.
std::uint64_t incarnation_of(base::ConstByteSpan record);

/// See Store::incarnation. kNoIncarnation if the file is not there; otherwise its content decides, whatever that is.
base::Result<std::uint64_t> read_incarnation(const os::Directory& directory);
/// Does the same, but makes the file if it is not there. Callers that make it at once all get the same answer.
base::Result<std::uint64_t> make_incarnation(const os::Directory& directory);

}  // namespace perdure::store
