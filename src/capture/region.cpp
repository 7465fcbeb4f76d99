#include "capture/region.hpp"

#include <algorithm>
#include <limits>

namespace perdure::capture {
namespace {

std::string label(std::int32_t id) { return "region " + std::to_string(id); }

bool overlaps(const Region& a, const Region& b) {
  if (a.bytes() == 0 || b.bytes() == 0) return false;
  return a.address < b.address + b.bytes() && b.address < a.address + a.bytes();
}

// Appends what of the region at [start, start + bytes) of the capture lies inside `range`.
void append_part(std::vector<MemorySpan>& parts, ChunkRange range, std::uint64_t start, std::uint64_t bytes,
                 std::byte* address) {
  const std::uint64_t begin = std::max(start, range.begin);
  const std::uint64_t end = std::min(start + bytes, range.begin + range.length);
  if (begin >= end) return;
  parts.push_back({address == nullptr ? nullptr : address + (begin - start), end - begin});
}

}  // namespace

base::Status RegionTable::protect(const Region& region) {
  const std::string object = label(region.id);
  if (region.id < 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "the id is negative", "use ids from 0 upwards");
  if (region.element_bytes == 0) return base::fail(PERDURE_INVALID_ARGUMENT, object, "the element size is 0 bytes");
  constexpr std::uint64_t kLimit = std::numeric_limits<std::int64_t>::max();
  if (region.count > kLimit / region.element_bytes)
    return base::fail(PERDURE_INVALID_ARGUMENT, object,
                      "count " + std::to_string(region.count) + " times element size " +
                          std::to_string(region.element_bytes) + " bytes overflows",
                      "check that the count is not a negative number");
  if (region.address == nullptr && region.bytes() > 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "the address is null but the count is not 0");
  if (region.bytes() > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(region.address))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "it reaches beyond the end of the address space",
                      "check the count");
  const Region* before = find(region.id);
  if (region.bytes() > kLimit - (bytes() - (before == nullptr ? 0 : before->bytes())))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "all regions together would have 2^63 bytes or more",
                      "check the count");
  for (const auto& [id, other] : regions_)
    if (id != region.id && overlaps(region, other))
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "its memory overlaps " + label(id),
                        "unprotect one of the two first");
  regions_[region.id] = region;
  return {};
}

base::Status RegionTable::unprotect(std::int32_t id) {
  if (regions_.erase(id) == 0) return base::fail(PERDURE_NOT_FOUND, label(id), "it is not protected");
  return {};
}

const Region* RegionTable::find(std::int32_t id) const {
  auto it = regions_.find(id);
  return it == regions_.end() ? nullptr : &it->second;
}

std::uint64_t RegionTable::bytes() const {
  std::uint64_t total = 0;
  for (const auto& [id, region] : regions_) total += region.bytes();
  return total;
}

std::vector<segment::RegionEntry> RegionTable::entries() const {
  std::vector<segment::RegionEntry> list;
  for (const auto& [id, region] : regions_)
    list.push_back(segment::RegionEntry{id, region.element_bytes, region.count});
  return list;
}

std::vector<MemorySpan> capture_parts(const RegionTable& table, ChunkRange range) {
  std::vector<MemorySpan> parts;
  std::uint64_t start = 0;
  for (const auto& [id, region] : table.regions()) {
    append_part(parts, range, start, region.bytes(), region.address);
    start += region.bytes();
  }
  return parts;
}

std::vector<MemorySpan> restore_parts(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                                      const std::vector<std::int32_t>& wanted, ChunkRange range) {
  std::vector<MemorySpan> parts;
  std::uint64_t start = 0;
  for (const auto& entry : stored) {
    const bool take = std::find(wanted.begin(), wanted.end(), entry.id) != wanted.end();
    const Region* region = take ? table.find(entry.id) : nullptr;
    append_part(parts, range, start, entry.bytes(), region == nullptr ? nullptr : region->address);
    start += entry.bytes();
  }
  return parts;
}

base::Status check_sizes(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                         const std::vector<std::int32_t>& wanted) {
  for (std::int32_t id : wanted) {
    const Region* region = table.find(id);
    if (region == nullptr) return base::fail(PERDURE_NOT_FOUND, label(id), "it is not protected", "protect it first");
    auto it = std::find_if(stored.begin(), stored.end(), [id](const auto& entry) { return entry.id == id; });
    if (it == stored.end()) return base::fail(PERDURE_NOT_FOUND, label(id), "it is not part of the stored checkpoint");
    if (it->kind != segment::EntryKind::memory)
      return base::fail(PERDURE_MISMATCH, label(id),
                        std::string("it was not stored as memory, but as ") + segment::kind_name(it->kind),
                        "restore it with what stored it");
    if (it->element_bytes != region->element_bytes || it->count != region->count)
      return base::fail(PERDURE_MISMATCH, label(id),
                        "stored as " + std::to_string(it->count) + " elements of " + std::to_string(it->element_bytes) +
                            " bytes, protected as " + std::to_string(region->count) + " of " +
                            std::to_string(region->element_bytes),
                        "ask perdure_stored_size() and protect the region with that size before restoring");
  }
  return {};
}

}  // namespace perdure::capture
