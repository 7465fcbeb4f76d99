#include "client/mapped_regions.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "os/own_memory.hpp"

namespace perdure::client {

namespace {

constexpr std::uint64_t kLeastPage = 4096;  // larger pages cover at least this much

/// Memory of a region that a call touches: all of it, or one box of an array's part, which may have gaps.
struct PlacedBox {
  os::AddressRange memory;  // from its first byte to the end of its last one
  const capture::Region* region = nullptr;
  std::size_t number = 0;  // number of the box
};

array::Strided used_box(const capture::ArrayPart& part, MemoryUse use, std::size_t number) {
  return use == MemoryUse::fill ? part.wanted(number) : part.memory()[number];
}

os::AddressRange around(const array::Strided& lies, std::uint64_t address, std::uint64_t element_bytes) {
  os::AddressRange memory{address + static_cast<std::uint64_t>(lies.offset), 0};
  memory.end = memory.begin + element_bytes;
  for (unsigned d = 0; d < lies.box.dimensions; ++d) {
    const std::int64_t far = lies.strides[d] * static_cast<std::int64_t>(lies.box.extent(d) - 1);
    (far < 0 ? memory.begin : memory.end) += static_cast<std::uint64_t>(far);
  }
  return memory;
}

std::uint64_t address_of(const capture::Region& region) { return reinterpret_cast<std::uint64_t>(region.address); }

void add_used(const capture::Region& region, MemoryUse use, std::vector<PlacedBox>& all) {
  if (!region.part) {
    if (region.bytes() > 0) all.push_back({{address_of(region), address_of(region) + region.bytes()}, &region});
    return;
  }
  for (std::size_t number = 0; number < region.part->memory().size(); ++number) {
    const auto lies = used_box(*region.part, use, number);
    if (lies.box.empty()) continue;
    all.push_back({around(lies, address_of(region), region.part->element_bytes()), &region, number});
  }
}

bool is_before(const os::AddressRange& a, const os::AddressRange& b) { return a.begin < b.begin; }

// The pages of its rows, ascending.
std::vector<os::AddressRange> pages_of(const PlacedBox& used, const array::Strided& lies) {
  const auto bytes = used.region->part->element_bytes();
  std::vector<os::AddressRange> pages;
  array::strided_copy(lies.box, bytes, lies, array::packed(lies.box, bytes, 0))
      .each([&](std::int64_t from, std::int64_t, std::uint64_t length) {
        const std::uint64_t begin = address_of(*used.region) + static_cast<std::uint64_t>(from);
        const os::AddressRange row{begin / kLeastPage * kLeastPage, begin + length};
        if (!pages.empty() && pages.back().begin <= row.begin && row.begin <= pages.back().end)
          pages.back().end = std::max(pages.back().end, row.end);
        else
          pages.push_back(row);
      });
  std::sort(pages.begin(), pages.end(), is_before);
  return pages;
}

// Checks the rows of memory that is not all mapped: it may have gaps between them.
base::Status check_rows(const PlacedBox& used, MemoryUse use) {
  const capture::Region& region = *used.region;
  std::uint64_t bytes = region.bytes();
  if (region.part) {
    const auto lies = used_box(*region.part, use, used.number);
    if (!os::first_unmapped(pages_of(used, lies))) return {};
    bytes = lies.box.elements() * region.part->element_bytes();
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, region.text(),
                    "its memory, " + base::format_bytes(bytes) + ", is not there any more: it was freed or moved",
                    "protect it again where it is now, or unprotect it before it is freed");
}

base::Status check_used(std::vector<PlacedBox> all, MemoryUse use) {
  const auto lower = [](const PlacedBox& a, const PlacedBox& b) { return is_before(a.memory, b.memory); };
  if (!std::is_sorted(all.begin(), all.end(), lower)) std::sort(all.begin(), all.end(), lower);
  std::vector<os::AddressRange> ranges;
  ranges.reserve(all.size());
  for (const PlacedBox& one : all) ranges.push_back(one.memory);
  const std::span<const os::AddressRange> ascending(ranges);
  for (std::size_t at = 0; const auto found = os::first_unmapped(ascending.subspan(at)); ++at) {
    at += *found;
    PERDURE_CHECK(check_rows(all[at], use));
  }
  return {};
}

}  // namespace

base::Status check_mapped(const capture::RegionTable& table, MemoryUse use,
                          const std::optional<std::span<const std::int32_t>>& ids) {
  std::vector<PlacedBox> all;
  all.reserve(ids ? ids->size() : table.regions().size());
  if (!ids)
    for (const auto& [id, region] : table.regions()) add_used(region, use, all);
  for (const std::int32_t id : ids.value_or(std::span<const std::int32_t>()))
    if (const capture::Region* region = table.find(id); region != nullptr) add_used(*region, use, all);
  return check_used(std::move(all), use);
}

base::Status check_mapped(const capture::Region& region, MemoryUse use) {
  std::vector<PlacedBox> all;
  add_used(region, use, all);
  return check_used(std::move(all), use);
}

}  // namespace perdure::client
