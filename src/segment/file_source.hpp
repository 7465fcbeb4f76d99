#pragma once
// Reads a segment that is an ordinary file.
#include <memory>
#include <string>

#include "os/file.hpp"
#include "segment/reader.hpp"

namespace perdure::segment {

/// Whether reads may use the page cache, or must go to the device.
enum class Cached { yes, no };

/// Whether long streams of a file are read past the page cache (O_DIRECT), if its file system can and that is faster
/// (read_past_cache.hpp).
enum class DirectReads { no, where_possible };

/// Opens the file at `path`, and takes its size now. PERDURE_NOT_FOUND if there is none; refuses a link.
base::Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, Cached cached = Cached::yes);

/// Does so for a file that is already open for reading.
base::Result<std::unique_ptr<ByteSource>> open_file(os::File file, Cached cached = Cached::yes,
                                                    DirectReads direct = DirectReads::no);

/// Returns identity() of such a source.
std::string file_identity(const os::FileIdentity& identity);

}  // namespace perdure::segment
