#include "track/access.hpp"

namespace perdure::track {

// FNV-1a: the same in every run and on every machine.
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
