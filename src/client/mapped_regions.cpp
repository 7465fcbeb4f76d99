#include "client/mapped_regions.hpp"

#include "base/bytes.hpp"
#include "os/own_memory.hpp"

namespace perdure::client {

namespace {

base::Status check_mapped(const capture::Region& region) {
  const std::uint64_t bytes = region.part ? region.part->dense_bytes() : region.bytes();
  if (bytes < kLookedAtFrom || os::is_mapped(reinterpret_cast<std::uint64_t>(region.address), bytes)) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, region.text(),
                    "its memory, " + base::format_bytes(bytes) + ", is not there any more: it was freed or moved",
                    "protect it again where it is now, or unprotect it before it is freed");
}

}  // namespace

base::Status check_mapped(const capture::RegionTable& table) {
  for (const auto& [id, region] : table.regions()) PERDURE_CHECK(check_mapped(region));
  return {};
}

base::Status check_mapped(const capture::RegionTable& table, std::span<const std::int32_t> ids) {
  for (const std::int32_t id : ids)
    if (const capture::Region* region = table.find(id); region != nullptr) PERDURE_CHECK(check_mapped(*region));
  return {};
}

}  // namespace perdure::client
