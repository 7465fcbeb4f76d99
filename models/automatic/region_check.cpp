#include "automatic/region_check.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/hash.hpp"
#include "track/box_set.hpp"

namespace perdure::automatic {
namespace {

// Returns the span of memory that contains all of a part's elements and the gaps between them.
Bytes memory_of(const Part& part, std::uint64_t element_bytes) {
  std::int64_t first = 0, last = 0;
  for (unsigned d = 0; d < part.box.dimensions; ++d) {
    const std::int64_t across = (part.box.end[d] - part.box.begin[d] - 1) * part.strides[d];
    (across < 0 ? first : last) += across;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(part.address);
  return {address + static_cast<std::uintptr_t>(first), address + static_cast<std::uintptr_t>(last) + element_bytes};
}

void add_memory(const StoredSet& set, const Box& box, std::vector<Bytes>& to) {
  for (const Part& owned : set.owned)
    if (const Part part = part_within(owned, box); !part.box.empty())
      to.push_back(memory_of(part, set.data.element_bytes));
}

// Adds the stretches in which a part's elements lie side by side: its rows, or the whole part. Memory between stretches
// does not belong to the array, for example seams that neighbours fill. Leaves out stretches of fewer than `least`
// bytes.
void add_stretches(const Part& part, std::uint64_t element_bytes, std::uint64_t least, std::vector<Bytes>& to) {
  std::vector<unsigned> by_stride(part.box.dimensions);
  std::iota(by_stride.begin(), by_stride.end(), 0U);
  const auto extent = [&](unsigned d) { return static_cast<std::uint64_t>(part.box.end[d] - part.box.begin[d]); };
  std::sort(by_stride.begin(), by_stride.end(),
            [&](unsigned a, unsigned b) { return std::abs(part.strides[a]) < std::abs(part.strides[b]); });
  std::uint64_t stretch = element_bytes;
  std::size_t dense = 0;  // dimensions without gaps
  for (; dense < by_stride.size(); ++dense) {
    const unsigned d = by_stride[dense];
    if (extent(d) > 1 && static_cast<std::uint64_t>(std::abs(part.strides[d])) != stretch) break;
    stretch *= extent(d);
  }
  if (stretch < least) return;
  std::vector<std::uintptr_t> begins = {memory_of(part, element_bytes).begin};
  for (; dense < by_stride.size(); ++dense) {
    const unsigned d = by_stride[dense];
    const std::size_t count = begins.size();
    for (std::uint64_t i = 1; i < extent(d); ++i)
      for (std::size_t k = 0; k < count; ++k)
        begins.push_back(begins[k] + i * static_cast<std::uintptr_t>(std::abs(part.strides[d])));
  }
  for (const std::uintptr_t begin : begins) to.push_back({begin, begin + stretch});
}

// Returns the memory of arrays except what the region declares.
std::vector<Bytes> memory_beside(const std::vector<StoredSet>& sets, std::span<const track::Access> accesses) {
  constexpr std::uint64_t kLeast = 4096;  // bytes; a stretch without a whole page cannot be guarded
  std::vector<Bytes> all, used;
  for (const StoredSet& set : sets)
    for (const Part& owned : set.owned)
      if (const Part part = part_within(owned, set.data.box); !part.box.empty())
        add_stretches(part, set.data.element_bytes, kLeast, all);
  for (const track::Access& access : accesses) {
    if (access.does_read()) add_memory(sets[access.set], access.read, used);
    if (access.does_write()) add_memory(sets[access.set], access.written, used);
  }
  return difference(std::move(all), std::move(used));
}

// Describes the index of the element at or before a byte of a part's memory.
std::string index_at(const Part& part, std::uint64_t element_bytes, std::uintptr_t address) {
  auto rest = static_cast<std::int64_t>(address - memory_of(part, element_bytes).begin);
  std::array<std::int64_t, track::kMostDimensions> index{};
  std::set<std::pair<std::int64_t, unsigned>> by_stride;
  for (unsigned d = 0; d < part.box.dimensions; ++d) by_stride.emplace(-std::abs(part.strides[d]), d);
  for (const auto& [stride, d] : by_stride) {
    const std::int64_t last = part.box.end[d] - part.box.begin[d] - 1;
    const std::int64_t at = stride == 0 ? 0 : std::min(last, rest / -stride);
    rest -= at * -stride;
    index[d] = part.strides[d] < 0 ? part.box.end[d] - 1 - at : part.box.begin[d] + at;
  }
  std::string text;
  for (unsigned d = 0; d < part.box.dimensions; ++d) text += (d == 0 ? "" : ", ") + std::to_string(index[d]);
  return "[" + text + "]";
}

std::optional<std::string> what_is_at(const std::vector<StoredSet>& sets, std::uintptr_t address) {
  for (const StoredSet& set : sets)
    for (const Part& part : set.owned)
      if (const Bytes memory = memory_of(part, set.data.element_bytes); address >= memory.begin && address < memory.end)
        return index_at(part, set.data.element_bytes, address) + " of data '" + set.data.name + "'";
  return std::nullopt;
}

}  // namespace

RegionCheck::Hash RegionCheck::hash_of(const StoredSet& set, const Box& box) {
  base::Hasher hasher;
  for (const Part& owned : set.owned) {
    const Part part = part_within(owned, box);
    if (part.box.empty()) continue;
    packed_.resize(part.box.elements() * set.data.element_bytes);
    pack(part, set.data.element_bytes, set.x_first, packed_.data());
    hasher.update(packed_);
  }
  const base::Hash128 hash = hasher.digest();
  return {hash.low, hash.high};
}

// The choice is random: of two regions that alternate, the same one might otherwise always get the time.
bool RegionCheck::looks_now(track::LoopId id, Clock::time_point now) {
  constexpr int kShare = 10;
  if (known_.insert(id).second) return true;
  return took_ * kShare <= now - began_ && draw_() % 2 == 0;
}

void RegionCheck::begin(track::LoopId id, const std::vector<StoredSet>& sets, std::span<const track::Access> accesses) {
  seen_.clear();
  const auto now = Clock::now();
  if (!looks_now(id, now)) return;
  ++looked_at_;
  for (track::SetId number = 0; looks_.at_writes && number < sets.size(); ++number) {
    track::BoxSet rest;
    for (const Part& owned : sets[number].owned) rest.add(owned.box);
    for (const track::Access& access : accesses)
      if (access.set == number && access.does_write()) rest.remove(access.written);
    for (const Box& box : rest.boxes()) seen_.push_back({number, box, hash_of(sets[number], box)});
  }
  if (looks_.at_reads) pages_.guard(memory_beside(sets, accesses));
  took_ += Clock::now() - now;
}

std::optional<std::string> RegionCheck::end(const std::vector<StoredSet>& sets) {
  const auto now = Clock::now();
  const auto touched = pages_.release();
  std::optional<std::string> found;
  for (const Seen& seen : seen_)
    if (!found && hash_of(sets[seen.set], seen.box) != seen.hash)
      found = "it wrote " + seen.box.text() + " of data '" + sets[seen.set].data.name + "'";
  seen_.clear();
  if (!found && !touched.empty())
    if (const auto what = what_is_at(sets, touched.front())) found = "it used " + *what;
  took_ += Clock::now() - now;
  return found;
}

}  // namespace perdure::automatic
