#include "capture/region.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace perdure::capture {
namespace {

std::string label(std::int32_t id) { return "region " + std::to_string(id); }

std::uintptr_t begin_of(const Region& region) { return reinterpret_cast<std::uintptr_t>(region.address); }

// What it takes of memory without gaps. Boxes with gaps may lie within each other, as the members of a structure do.
std::uint64_t occupied(const Region& region) { return region.part ? region.part->dense_bytes() : region.bytes(); }

// Spans shorter than this cost more than a copy of what is beside them.
constexpr std::uint64_t kScattered = 1024;

std::string kind_text(const segment::RegionEntry& entry) {
  return std::string("it was not stored as memory, but as ") + segment::kind_name(entry.kind);
}

}  // namespace

std::string Region::text() const {
  if (part) return segment::region_text(id, part->array().label);
  return label ? segment::region_text(id, *label) : perdure::capture::label(id);
}

Region region_of(std::shared_ptr<const ArrayPart> part) {
  const auto& stored = part->stored();
  Region region{stored.id, part->address(), stored.element_bytes, stored.count, {}, {}};
  region.part = std::move(part);
  return region;
}

base::Status RegionTable::protect(const Region& region) {
  const std::string object = region.text();
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
  const std::uint64_t takes = occupied(region);
  if (takes > 0)
    if (const auto other = order_.overlapping(begin_of(region), begin_of(region) + takes, region.id))
      return base::fail(PERDURE_INVALID_ARGUMENT, object, "its memory overlaps " + find(*other)->text(),
                        "unprotect one of the two first");
  Region& entry = regions_[region.id];
  if (entry.part || region.part) ++arrays_changed_;
  const auto label = entry.part || region.part ? nullptr : entry.label;  // of the same memory, protected anew
  forget(std::exchange(entry, {}));  // consistent at every moment: memory may run out
  if (takes > 0) order_.add(begin_of(region), begin_of(region) + takes, region.id);
  entry = region;
  if (!entry.label) entry.label = label;
  bytes_ += region.bytes();
  if (region.part) ++parts_;
  return {};
}

base::Status RegionTable::unprotect(std::int32_t id) {
  const auto found = regions_.find(id);
  if (found == regions_.end()) return base::fail(PERDURE_NOT_FOUND, label(id), "it is not protected");
  if (found->second.part) ++arrays_changed_;
  forget(found->second);
  regions_.erase(found);
  return {};
}

void RegionTable::place(std::int32_t id, std::shared_ptr<const ArrayPart> placed) {
  Region& region = regions_.at(id);
  bytes_ -= region.bytes();
  region.count = placed->stored().count;
  bytes_ += region.bytes();
  region.part = std::move(placed);
}

// All but its entry by id.
void RegionTable::forget(const Region& region) {
  if (occupied(region) > 0) order_.remove(begin_of(region));
  bytes_ -= region.bytes();
  if (region.part) --parts_;
}

const Region* RegionTable::find(std::int32_t id) const {
  auto it = regions_.find(id);
  return it == regions_.end() ? nullptr : &it->second;
}

std::vector<segment::RegionEntry> RegionTable::entries() const {
  std::vector<segment::RegionEntry> list;
  list.reserve(regions_.size());
  for (const auto& [id, region] : regions_) {
    list.push_back(region.part ? region.part->stored() : segment::RegionEntry{id, region.element_bytes, region.count});
    if (region.label) segment::set_label(list.back(), *region.label);
  }
  return list;
}

base::Status RegionTable::set_label(std::int32_t id, const segment::Label& label) {
  const auto found = regions_.find(id);
  const std::string object = perdure::capture::label(id);
  if (found == regions_.end()) return base::fail(PERDURE_NOT_FOUND, object, "it is not protected", "protect it first");
  if (found->second.part)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "it is a part of an array, which has its label",
                      "say name, unit and description where the array is declared");
  PERDURE_CHECK(segment::check_label(label, object));
  found->second.label = label == segment::Label{} ? nullptr : std::make_shared<const segment::Label>(label);
  return {};
}

void CapturedMemory::add(std::byte* address, std::uint64_t bytes) {
  if (bytes == 0) return;
  parts_.push_back({bytes_, address});
  bytes_ += bytes;
}

void CapturedMemory::add(std::byte* address, const array::Strided& lies, std::uint64_t element_bytes) {
  const std::uint64_t bytes = lies.box.elements() * element_bytes;
  const auto copy = array::strided_copy(lies.box, element_bytes, lies, array::packed(lies.box, element_bytes, 0));
  if (bytes == 0) return;
  if (copy.bytes == bytes) return add(address + copy.from, bytes);
  if (copy.bytes < kScattered) scattered_ = true;
  parts_.push_back({bytes_, address, boxes_.size()});
  boxes_.push_back({lies, element_bytes});
  bytes_ += bytes;
}

std::size_t CapturedMemory::first_part(std::uint64_t begin) const {
  const auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                                     [](std::uint64_t at, const Part& other) { return at < other.begin; });
  return part == parts_.begin() ? 0 : static_cast<std::size_t>(part - parts_.begin()) - 1;
}

std::vector<MemorySpan> CapturedMemory::spans(ChunkRange range) const {
  std::vector<MemorySpan> spans;
  (void)each(range, [&](std::byte* address, std::uint64_t bytes) -> base::Status {
    spans.push_back({address, bytes});
    return {};
  });
  return spans;
}

namespace {

void add_boxes(CapturedMemory& memory, const Region& region, const std::vector<array::Strided>& boxes) {
  for (const auto& lies : boxes) memory.add(region.address, lies, region.element_bytes);
}

}  // namespace

CapturedMemory captured_memory(const RegionTable& table) {
  CapturedMemory memory;
  for (const auto& [id, region] : table.regions()) {
    if (!region.part)
      memory.add(region.address, region.bytes());
    else if (region.count > 0)  // else another rank stores all of it
      add_boxes(memory, region, region.part->captured());
  }
  return memory;
}

CapturedMemory restored_memory(const RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                               const std::vector<std::int32_t>& wanted) {
  CapturedMemory memory;
  for (const auto& entry : stored) {
    const bool take = std::binary_search(wanted.begin(), wanted.end(), entry.id);
    const Region* region = take ? table.find(entry.id) : nullptr;
    if (region == nullptr)
      memory.add(nullptr, entry.bytes());
    else if (!region->part)
      memory.add(region->address, region->bytes());
    else if (entry.count > 0)
      add_boxes(memory, *region, region->part->memory());
  }
  return memory;
}

base::Status check_array(const Region& region, const segment::ArrayEntry& stored) {
  const auto& wanted = region.part->array();
  const auto differs = [&](const std::string& what, const std::string& then, const std::string& now) {
    return base::fail(PERDURE_MISMATCH, region.text(), what + " was stored as " + then + ", and is protected as " + now,
                      "ask perdure_stored_array() and protect the region as it was stored");
  };
  if (stored.type != wanted.type) return differs("its element type", stored.type.text(), wanted.type.text());
  if (stored.whole != wanted.whole) return differs("the array", stored.whole.text(), wanted.whole.text());
  return {};
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
      return base::fail(PERDURE_NOT_FOUND, region->text(), "it is not part of the stored checkpoint");
    const segment::RegionEntry& entry = *found->second;
    if (region->part && entry.kind == segment::EntryKind::array) {
      PERDURE_TRY(const auto array, segment::array_of(entry, "stored checkpoint"));
      PERDURE_CHECK(check_array(*region, array));
      continue;
    }
    if (region->part)
      return base::fail(
          PERDURE_MISMATCH, region->text(),
          std::string("it is protected as a part of an array, and was stored as ") + segment::kind_name(entry.kind),
          "protect it with perdure_protect()");
    if (entry.kind != segment::EntryKind::memory)
      return base::fail(PERDURE_MISMATCH, region->text(), kind_text(entry), "restore it with what stored it");
    if (entry.element_bytes != region->element_bytes || entry.count != region->count)
      return base::fail(PERDURE_MISMATCH, region->text(),
                        "stored as " + std::to_string(entry.count) + " elements of " +
                            std::to_string(entry.element_bytes) + " bytes, protected as " +
                            std::to_string(region->count) + " of " + std::to_string(region->element_bytes),
                        "ask perdure_stored_size() and protect the region with that size before restoring");
  }
  return {};
}

}  // namespace perdure::capture
