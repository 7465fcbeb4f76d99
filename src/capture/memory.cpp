#include "capture/memory.hpp"

#include <algorithm>
#include <cstring>

namespace perdure::capture {

std::vector<ChunkRange> cut(std::uint64_t total, std::uint64_t chunk_bytes) {
  std::vector<ChunkRange> chunks;
  for (std::uint64_t begin = 0; begin < total; begin += chunk_bytes)
    chunks.push_back({begin, std::min(chunk_bytes, total - begin)});
  return chunks;
}

base::Status MemorySource::read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) {
  for (const auto& part : memory_.spans(range)) PERDURE_CHECK(take(base::ConstByteSpan(part.address, part.length)));
  return {};
}

MemoryTarget::MemoryTarget(const RegionTable& table, const std::optional<std::vector<std::int32_t>>& ids)
    : table_(table) {
  if (!ids) {
    for (const auto& [id, region] : table.regions()) wanted_.push_back(id);
    return;
  }
  wanted_ = *ids;
  std::sort(wanted_.begin(), wanted_.end());
}

base::Result<std::vector<ChunkRange>> MemoryTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  PERDURE_CHECK(check_sizes(table_, stored, wanted_));
  memory_ = restored_memory(table_, stored, wanted_);
  std::vector<ChunkRange> needed;
  std::uint64_t begin = 0;
  for (const auto& entry : stored) {
    const bool wanted = std::binary_search(wanted_.begin(), wanted_.end(), entry.id);
    if (wanted && entry.bytes() > 0) needed.push_back({begin, entry.bytes()});
    begin += entry.bytes();
  }
  return needed;
}

base::Status MemoryTarget::write(ChunkRange range, base::ConstByteSpan bytes) {
  std::uint64_t done = 0;
  for (const auto& part : memory(range)) {
    if (part.address != nullptr) std::memcpy(part.address, bytes.data() + done, part.length);
    done += part.length;
  }
  return {};
}

}  // namespace perdure::capture
