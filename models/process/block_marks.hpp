#pragma once
// A later capture tells by the marks of blocks which of them changed. Plain hashes would not do: somebody may choose
// what a program has in memory without reading its images. They must not be able to make two contents with one mark. So
// each mark is a value of a keyed function, Poly1305. Two contents of a block have the same mark under fewer than one
// of 2^90 keys. The key is drawn for the first image, and is kept in that image and those that follow.
#include <functional>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

std::vector<std::byte> new_mark_key();
/// Copies the bytes of a block, which do not change meanwhile. Several threads call it.
using ReadBlock = std::function<base::Status(const PageRun& block, base::ByteSpan bytes)>;
/// Returns kMarkBytes for each of `blocks`. `key` has kMarkKeyBytes.
base::Result<std::vector<std::byte>> marks_of(const std::vector<PageRun>& blocks, const std::vector<std::byte>& key,
                                              const ReadBlock& read, unsigned threads);

}  // namespace perdure::process
