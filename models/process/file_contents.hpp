#pragma once
// What is in pipes, unlinked files and files in memory, read through a duplicate. Nothing of them changes.
#include "base/result.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// Through an end that reads, or the other one: then nothing is read. `messages`: it keeps apart what was written
/// (O_DIRECT).
base::Result<FileContent> content_of_pipe(int fd, bool reads, bool messages);
/// Of a regular file: what is not a hole. PERDURE_UNSUPPORTED: more than `most_bytes`.
base::Result<FileContent> content_of_file(int fd, std::uint64_t most_bytes);
/// Of the first `bytes` of a regular file; nothing when there are fewer.
base::Result<std::optional<base::Hash128>> hash_of_file(int fd, std::uint64_t bytes);

}  // namespace perdure::process
