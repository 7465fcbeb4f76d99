#include "capture/region.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace perdure::capture {
namespace {

std::string label(std::int32_t id) { return "region " + std::to_string(id); }

std::uintptr_t begin_of(const Region& region) { return reinterpret_cast<std::uintptr_t>(region.address); }

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
  if (region.bytes() > std::numeric_limits<std::uintptr_t>::max() - begin_of(region))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "it reaches beyond the end of the address space",
                      "check the count");
  const Region* before = find(region.id);
  if (region.bytes() > kLimit - (bytes_ - (before == nullptr ? 0 : before->bytes())))
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "all regions together would have 2^63 bytes or more",
                      "check the count");
  if (region.bytes() > 0)
    if (const auto other = order_.overlapping(begin_of(region), begin_of(region) + region.bytes(), region.id))
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "its memory overlaps " + label(*other),
                        "unprotect one of the two first");
  Region& entry = regions_[region.id];
  forget(std::exchange(entry, {}));  // consistent at every moment: memory may run out
  if (region.bytes() > 0) order_.add(begin_of(region), begin_of(region) + region.bytes(), region.id);
  entry = region;
  bytes_ += region.bytes();
  return {};
}

base::Status RegionTable::unprotect(std::int32_t id) {
  const auto found = regions_.find(id);
  if (found == regions_.end()) return base::fail(PERDURE_NOT_FOUND, label(id), "it is not protected");
  forget(found->second);
  regions_.erase(found);
  return {};
}

// All but its entry by id.
void RegionTable::forget(const Region& region) {
  if (region.bytes() > 0) order_.remove(begin_of(region));
  bytes_ -= region.bytes();
}

const Region* RegionTable::find(std::int32_t id) const {
  auto it = regions_.find(id);
  return it == regions_.end() ? nullptr : &it->second;
}

std::vector<segment::RegionEntry> RegionTable::entries() const {
  std::vector<segment::RegionEntry> list;
  list.reserve(regions_.size());
  for (const auto& [id, region] : regions_)
    list.push_back(segment::RegionEntry{id, region.element_bytes, region.count});
  return list;
}

void CapturedMemory::add(std::byte* address, std::uint64_t bytes) {
  if (bytes == 0) return;
  parts_.push_back({bytes_, address});
  bytes_ += bytes;
}

std::vector<MemorySpan> CapturedMemory::spans(ChunkRange range) const {
  std::vector<MemorySpan> spans;
  const auto end = std::min(range.end(), bytes_);
  auto part = std::upper_bound(parts_.begin(), parts_.end(), range.begin,
                               [](std::uint64_t at, const Part& other) { return at < other.begin; });
  if (part != parts_.begin()) --part;
  for (std::uint64_t at = range.begin; at < end; ++part) {
    const std::uint64_t part_end = std::next(part) == parts_.end() ? bytes_ : std::next(part)->begin;
    const std::uint64_t stop = std::min(part_end, end);
    spans.push_back({part->address == nullptr ? nullptr : part->address + (at - part->begin), stop - at});
    at = stop;
  }
  return spans;
}

CapturedMemory captured_memory(const RegionTable& table) {
  CapturedMemory memory;
  for (const auto& [id, region] : table.regions()) memory.add(region.address, region.bytes());
  return memory;
}

CapturedMemory restored_memory(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                               const std::vector<std::int32_t>& wanted) {
  CapturedMemory memory;
  for (const auto& entry : stored) {
    const bool take = std::binary_search(wanted.begin(), wanted.end(), entry.id);
    const Region* region = take ? table.find(entry.id) : nullptr;
    memory.add(region == nullptr ? nullptr : region->address, entry.bytes());
  }
  return memory;
}

base::Status check_sizes(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                         const std::vector<std::int32_t>& wanted) {
  std::unordered_map<std::int32_t, const segment::RegionEntry*> by_id;
  for (const auto& entry : stored) by_id.emplace(entry.id, &entry);
  for (std::int32_t id : wanted) {
    const Region* region = table.find(id);
    if (region == nullptr) return base::fail(PERDURE_NOT_FOUND, label(id), "it is not protected", "protect it first");
    const auto found = by_id.find(id);
    if (found == by_id.end())
      return base::fail(PERDURE_NOT_FOUND, label(id), "it is not part of the stored checkpoint");
    const segment::RegionEntry& entry = *found->second;
    if (entry.kind != segment::EntryKind::memory)
      return base::fail(PERDURE_MISMATCH, label(id),
                        std::string("it was not stored as memory, but as ") + segment::kind_name(entry.kind),
                        "restore it with what stored it");
    if (entry.element_bytes != region->element_bytes || entry.count != region->count)
      return base::fail(PERDURE_MISMATCH, label(id),
                        "stored as " + std::to_string(entry.count) + " elements of " +
                            std::to_string(entry.element_bytes) + " bytes, protected as " +
                            std::to_string(region->count) + " of " + std::to_string(region->element_bytes),
                        "ask perdure_stored_size() and protect the region with that size before restoring");
  }
  return {};
}

}  // namespace perdure::capture
