#pragma once
// Writes a version, or some of its regions, into a file of another format: chunk by chunk, each verified when it is
// read.
#include <functional>

#include "portable/target.hpp"

namespace perdure::portable {

/// Gets how many bytes were written, or read back, after each chunk.
using Advance = std::function<void(std::uint64_t bytes)>;

/// Writes all sets, and with `verify` reads them back and compares them, before the file gets its name.
/// PERDURE_CORRUPT: a chunk of the store is damaged, or what was read back is something else.
base::Status export_sets(reader::StoredContent& content, const std::vector<DataSet>& sets, Target& target, bool verify,
                         const Advance& advance);

}  // namespace perdure::portable
