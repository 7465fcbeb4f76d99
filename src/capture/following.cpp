#include "capture/following.hpp"

#include <utility>

namespace perdure::capture {
namespace {

std::uintptr_t number(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

bool is_of(segment::ArrayKind kind, const Region& region) { return region.part && region.part->array().kind == kind; }

// Returns the elements of one row of a list.
std::uint64_t row_elements(const Region& region) {
  const array::Box& whole = region.part->array().whole;
  std::uint64_t elements = 1;
  for (unsigned d = 1; d < whole.dimensions; ++d) elements *= whole.extent(d);
  return elements;
}

// Returns the bytes from its address on; 0: it has no memory.
std::uint64_t reach(const Region& region) { return region.part ? region.part->reach_bytes() : region.bytes(); }

// Whether it is all that its owner has.
bool is_all(const Region& region, const OwnedElements& has) {
  if (region.part && !is_of(segment::ArrayKind::list, region)) return false;
  const std::uint64_t count = region.part ? region.part->rows() * row_elements(region) : region.count;
  return count == has.count && (count == 0 || region.address == has.address);
}

base::Error refused(const Region& region, const std::string& cause, const std::string& remedy) {
  return {PERDURE_INVALID_ARGUMENT, region.text(), cause, remedy, false};
}

std::string counts(const OwnedElements& before, const OwnedElements& now) {
  return "its owner has " + std::to_string(now.count) + " elements, and had " + std::to_string(before.count);
}

base::Result<std::optional<Region>> with_count(const Region& region, const OwnedElements& before,
                                               const OwnedElements& now) {
  if (!region.part) return Region{region.id, now.address, region.element_bytes, now.count};
  const std::uint64_t row = row_elements(region);
  if (row == 0 || now.count % row != 0)
    return base::fail(refused(region, counts(before, now) + ": they are no rows of " + std::to_string(row),
                              "let it have whole rows"));
  PERDURE_TRY(auto part, region.part->with_rows(now.address, now.count / row));
  return region_of(std::move(part));
}

}  // namespace

base::Status check_owner(const Region& region, const OwnedElements& has) {
  const std::uint64_t bytes = reach(region);
  if (bytes == 0) return {};
  const std::uintptr_t begin = number(region.address), first = number(has.address);
  std::uint64_t owned = 0;
  const bool huge = __builtin_mul_overflow(has.count, region.element_bytes, &owned);
  if (begin >= first && (huge || (bytes <= owned && begin - first <= owned - bytes))) return {};
  return base::fail(refused(region, "it is not within the " + std::to_string(has.count) + " elements of its owner",
                            "protect what the owner has, before it is followed"));
}

bool has_left(const OwnedElements& before, const OwnedElements& now) { return before.address != now.address; }

base::Result<std::optional<Region>> followed(const Region& region, const OwnedElements& before,
                                             const OwnedElements& now) {
  const bool all = is_all(region, before), same_count = now.count == before.count;
  if (now == before || (same_count && reach(region) == 0)) return std::nullopt;
  // A block without elements stays one, whatever else its owner holds.
  if (reach(region) == 0 && !all && !is_of(segment::ArrayKind::replicated, region)) return std::nullopt;
  if (now.count == 0)
    return base::fail(refused(region, counts(before, now) + ": was it moved or cleared?",
                              "protect it again as it is now, or unprotect it"));
  if (now.address == nullptr)
    return base::fail(refused(region,
                              "its owner says that " + std::to_string(now.count) + " elements are at no address",
                              "let it say where they are"));
  if (!same_count && all) return with_count(region, before, now);
  if (!same_count)
    return base::fail(refused(region,
                              counts(before, now) + ", of which it is " +
                                  (region.part ? "a part of an array, whose size is that of all ranks" : "a part"),
                              region.part ? "protect it again, on all ranks" : "protect it again"));
  std::byte* const address = region.address + static_cast<std::ptrdiff_t>(number(now.address) - number(before.address));
  if (region.part) return region_of(region.part->at(address));
  return Region{region.id, address, region.element_bytes, region.count};
}

}  // namespace perdure::capture
