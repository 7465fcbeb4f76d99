#include "plan/skipping.hpp"

namespace perdure::plan {

std::vector<std::size_t> skip(const RetentionPolicy& policy, const std::vector<ComingVersion>& coming) {
  std::vector<StoredVersion> stored(coming.begin(), coming.end());
  for (StoredVersion& one : stored) one.complete = true;
  std::vector<std::size_t> places = retire(policy, stored);
  std::erase_if(places, [&coming](std::size_t place) { return !coming[place].may_go; });
  return places;
}

}  // namespace perdure::plan
