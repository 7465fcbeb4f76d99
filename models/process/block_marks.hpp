#pragma once
// Marks of a process's blocks, by which a later capture tells what has changed. They are no plain hashes: whoever
// chooses what a program has in its memory, but cannot read its images, must not be able to make two contents of one
// mark. So each is a value of a keyed function (Poly1305: two contents of a block have one mark under
// fewer than one of 2^90 keys). The key is drawn for the first image, and kept in it and in those that follow.
#include <functional>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

std::vector<std::byte> new_mark_key();
/// Copies a block's bytes, which stay as they are. By several threads.
using ReadBlock = std::function<base::Status(const PageRun& block, base::ByteSpan bytes)>;
/// kMarkBytes for each of `blocks`. `key` has kMarkKeyBytes.
base::Result<std::vector<std::byte>> marks_of(const std::vector<PageRun>& blocks, const std::vector<std::byte>& key,
                                              const ReadBlock& read, unsigned threads);

}  // namespace perdure::process
