#pragma once
// A segment that is an ordinary file.
#include <memory>
#include <string>

#include "segment/reader.hpp"

namespace perdure::segment {

/// Opens the file at `path`; its size is taken now. PERDURE_NOT_FOUND when there is none; a link is refused.
base::Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

}  // namespace perdure::segment
