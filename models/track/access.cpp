#include "track/access.hpp"

#include <limits>

namespace perdure::track {

std::string defect_of(const DataSet& set) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (set.name.empty()) return "a data set has no name";
  const std::string who = "data set '" + set.name + "' ";
  if (set.box.dimensions > kMostDimensions) return who + "has too many dimensions";
  if (set.element_bytes == 0 || set.element_bytes > kMost) return who + "has elements of no size that can be";
  std::uint64_t bytes = set.element_bytes;
  for (unsigned d = 0; d < set.box.dimensions; ++d) {
    if (set.box.begin[d] > set.box.end[d]) return who + "ends before it begins: " + set.box.text();
    // Unsigned arithmetic is right for any two numbers.
    const std::uint64_t extent =
        static_cast<std::uint64_t>(set.box.end[d]) - static_cast<std::uint64_t>(set.box.begin[d]);
    if (extent == 0) return {};
    if (extent > kMost || bytes > kMost / extent) return who + "has 2^63 bytes or more: " + set.box.text();
    bytes *= extent;
  }
  return {};
}

// FNV-1a: the hash is the same in every run and on every machine.
LoopId loop_id(std::string_view name, std::string_view site) {
  LoopId hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash = (hash ^ 0xffU) * 0x100000001b3ULL;  // so that "a" at "bc" is not "ab" at "c"
  };
  mix(name);
  mix(site);
  return hash;
}

}  // namespace perdure::track
