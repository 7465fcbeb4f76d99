#pragma once
// A segment that is an ordinary file.
#include <memory>
#include <string>

#include "os/file.hpp"
#include "segment/reader.hpp"

namespace perdure::segment {

/// Whether what this machine's memory has of a file may be read instead of the device.
enum class Cached { yes, no };

/// Whether long streams of a file are read past that memory (O_DIRECT), where its file system can and that is quicker
/// (read_past_cache.hpp).
enum class DirectReads { no, where_possible };

/// Opens the file at `path`; its size is taken now. PERDURE_NOT_FOUND when there is none; a link is refused.
base::Result<std::unique_ptr<ByteSource>> open_file(const std::string& path, Cached cached = Cached::yes);

/// The same of a file that is open for reading already.
base::Result<std::unique_ptr<ByteSource>> open_file(os::File file, Cached cached = Cached::yes,
                                                    DirectReads direct = DirectReads::no);

/// What identity() of such a source says.
std::string file_identity(const os::FileIdentity& identity);

}  // namespace perdure::segment
