#include "capture/region.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace perdure::capture {
namespace {

std::string label(std::int32_t id) { return "region " + std::to_string(id); }

std::uintptr_t begin_of(const Region& region) { return reinterpret_cast<std::uintptr_t>(region.address); }

// Returns the bytes that it occupies without gaps. Boxes with gaps may interleave, as the members of a structure do.
std::uint64_t occupied(const Region& region) { return region.part ? region.part->dense_bytes() : region.bytes(); }

constexpr std::uint64_t kLimit = std::numeric_limits<std::int64_t>::max();

// Checks whether such memory can exist.
base::Status check_memory(const Region& region) {
  const std::string object = region.text();
  if (region.id < 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, "the id is negative", "use ids from 0 upwards");
  if (region.element_bytes == 0) return base::fail(PERDURE_INVALID_ARGUMENT, object, "the element size is 0 bytes");
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
  return {};
}

// `others` has the bytes of all other regions.
base::Status check_sum(const Region& region, std::uint64_t others) {
  if (region.bytes() <= kLimit - others) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, region.text(), "all regions together would have 2^63 bytes or more",
                    "check the count");
}

base::Error overlap(const Region& region, const Region& other) {
  return {PERDURE_INVALID_ARGUMENT, region.text(), "its memory overlaps " + other.text(),
          "unprotect one of the two first", false};
}

// Shorter spans cost more than a copy of their neighbourhood.
constexpr std::uint64_t kScattered = 1024;

// The same region is protected anew: earlier statements about it stay where they still hold.
Region with_what_was_said(Region region, const Region& before) {
  region.optional = before.optional;
  region.restored = before.restored;
  if (region.part || before.part) return region;
  if (!region.label) region.label = before.label;
  if (region.elements || !before.elements) return region;
  const auto elements = segment::still_true(*before.elements, region.element_bytes, region.count);
  region.elements =
      elements == *before.elements ? before.elements : std::make_shared<const segment::Elements>(elements);
  return region;
}

}  // namespace

std::string_view Region::name() const {
  if (part) return part->array().label.name;
  return label ? std::string_view(label->name) : std::string_view();
}

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
  PERDURE_CHECK(check_memory(region));
  const Region* before = find(region.id);
  PERDURE_CHECK(check_sum(region, bytes_ - (before == nullptr ? 0 : before->bytes())));
  if (const auto other = overlapped_by(region)) return base::fail(overlap(region, *find(*other)));
  const std::uint64_t takes = occupied(region);
  Region now = before == nullptr ? region : with_what_was_said(region, *before);
  Region& entry = regions_[region.id];
  if (entry.part || region.part) ++arrays_changed_;
  forget(std::exchange(entry, {}));  // consistent at every moment: memory may run out
  if (takes > 0) order_.add(begin_of(region), begin_of(region) + takes, region.id);
  entry = std::move(now);
  bytes_ += region.bytes();
  if (region.part) ++parts_;
  return {};
}

std::optional<std::int32_t> RegionTable::overlapped_by(const Region& region) const {
  const std::uint64_t takes = check_memory(region) ? occupied(region) : 0;
  if (takes == 0) return std::nullopt;
  return order_.overlapping(begin_of(region), begin_of(region) + takes, region.id);
}

void RegionTable::leave_memory(std::int32_t id) {
  const Region* region = find(id);
  if (region != nullptr && occupied(*region) > 0) order_.remove(begin_of(*region), id);
}

// Removes all from their old memory before it places the first: two that swapped do not overlap.
base::Status RegionTable::move(std::vector<Region> moved) {
  std::uint64_t bytes = bytes_;
  std::vector<std::int32_t> ids;
  for (const Region& region : moved) {
    bytes -= find(region.id)->bytes();
    ids.push_back(region.id);
  }
  std::sort(ids.begin(), ids.end());
  const auto stays = [&](std::int32_t id) { return !std::binary_search(ids.begin(), ids.end(), id); };
  AddressOrder<std::uintptr_t> there;
  for (Region& region : moved) {
    const Region& before = *find(region.id);
    region = with_what_was_said(std::move(region), before);
    PERDURE_CHECK(check_memory(region));
    PERDURE_CHECK(check_sum(region, bytes));
    bytes += region.bytes();
    const std::uintptr_t begin = begin_of(region), end = begin + occupied(region);
    if (begin == end) continue;
    auto other = order_.overlapping(begin, end, stays);
    if (!other) other = there.overlapping(begin, end, region.id);
    if (other) return base::fail(overlap(region, *find(*other)));
    there.add(begin, end, region.id);
  }
  // No failure is possible from here on.
  for (const std::int32_t id : ids) leave_memory(id);
  for (Region& region : moved) regions_.find(region.id)->second = std::move(region);
  order_.merge(there);
  bytes_ = bytes;
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

// Forgets all but its entry by id.
void RegionTable::forget(const Region& region) {
  if (occupied(region) > 0) order_.remove(begin_of(region), region.id);
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
    if (region.elements) segment::set_elements(list.back(), *region.elements);
  }
  return list;
}

// Accepts plain memory only: a part of an array gets all this at its declaration.
base::Result<Region*> RegionTable::memory_of(std::int32_t id, const char* says) {
  const auto found = regions_.find(id);
  const std::string object = perdure::capture::label(id);
  if (found == regions_.end()) return base::fail(PERDURE_NOT_FOUND, object, "it is not protected", "protect it first");
  if (found->second.part)
    return base::fail(PERDURE_INVALID_ARGUMENT, object, std::string("it is a part of an array, which has its ") + says,
                      "say it where the array is declared");
  return &found->second;
}

base::Status RegionTable::set_label(std::int32_t id, const segment::Label& label) {
  PERDURE_TRY(Region* const region, memory_of(id, "name, unit and description"));
  PERDURE_CHECK(segment::check_label(label, perdure::capture::label(id)));
  region->label = label == segment::Label{} ? nullptr : std::make_shared<const segment::Label>(label);
  return {};
}

base::Status RegionTable::set_elements(std::int32_t id, const segment::Elements& elements) {
  PERDURE_TRY(Region* const region, memory_of(id, "type and extents"));
  PERDURE_CHECK(segment::check_elements(elements, region->element_bytes, region->count, region->text()));
  if (!said_last_ || *said_last_ != elements) said_last_ = std::make_shared<const segment::Elements>(elements);
  region->elements = elements == segment::Elements{} ? nullptr : said_last_;
  return {};
}

base::Status RegionTable::set_optional(std::int32_t id, bool optional) {
  const auto found = regions_.find(id);
  if (found == regions_.end())
    return base::fail(PERDURE_NOT_FOUND, perdure::capture::label(id), "it is not protected", "protect it first");
  found->second.optional = optional;
  return {};
}

void RegionTable::note_restored(const std::vector<std::int32_t>& wanted, const std::vector<std::int32_t>& absent,
                                const std::vector<std::int32_t>& absent_arrays) {
  const auto is_in = [](const std::vector<std::int32_t>& ids, std::int32_t id) {
    return std::binary_search(ids.begin(), ids.end(), id);
  };
  for (auto& [id, region] : regions_)
    region.restored = is_in(wanted, id) && !is_in(absent, id) && !is_in(absent_arrays, id);
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
                               const std::vector<std::int32_t>& to) {
  CapturedMemory memory;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const Region* region = to[i] == kNoRegion ? nullptr : table.find(to[i]);
    if (region == nullptr)
      memory.add(nullptr, stored[i].bytes());
    else if (!region->part)
      memory.add(region->address, region->bytes());
    else if (stored[i].count > 0)
      add_boxes(memory, *region, region->part->memory());
  }
  return memory;
}

}  // namespace perdure::capture
