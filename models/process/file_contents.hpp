#pragma once
// Reads the content of pipes, unlinked files and memfds through a duplicate descriptor. It changes none of them.
#include "base/result.hpp"
#include "process/descriptors.hpp"

namespace perdure::process {

/// `reads`: `fd` is the read end. If it is the write end, no bytes are read. `messages`: the pipe keeps written packets
/// apart (O_DIRECT).
base::Result<FileContent> content_of_pipe(int fd, bool reads, bool messages);
/// Returns the data of a regular file, without holes. PERDURE_UNSUPPORTED: it has more than `most_bytes`.
base::Result<FileContent> content_of_file(int fd, std::uint64_t most_bytes);
/// Hashes the first `bytes` of a regular file. Returns nothing if it is shorter.
base::Result<std::optional<base::Hash128>> hash_of_file(int fd, std::uint64_t bytes);

}  // namespace perdure::process
