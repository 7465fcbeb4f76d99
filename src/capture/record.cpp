#include "capture/record.hpp"

#include <algorithm>

namespace perdure::capture {

base::Result<std::vector<ChunkRange>> RecordTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  if (stored.size() != 1 || stored[0].kind != segment::EntryKind::opaque)
    return base::fail(PERDURE_MISMATCH, "", "it is not one record");
  const auto& entry = stored[0];
  const std::string object = "record " + std::to_string(entry.id);
  if (entry.bytes() > most_bytes_)
    return base::fail(PERDURE_CORRUPT, object,
                      "it has " + std::to_string(entry.bytes()) + " bytes, more than " + std::to_string(most_bytes_));
  record_ = {entry.id, std::vector<std::byte>(entry.bytes()), entry.attributes};
  return entry.bytes() == 0 ? std::vector<ChunkRange>() : std::vector<ChunkRange>{{0, entry.bytes()}};
}

base::Status RecordTarget::write(ChunkRange range, base::ConstByteSpan bytes) {
  std::copy(bytes.begin(), bytes.end(), record_.bytes.begin() + static_cast<std::ptrdiff_t>(range.begin));
  return {};
}

}  // namespace perdure::capture
