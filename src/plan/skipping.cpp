#include "plan/skipping.hpp"

#include <algorithm>
#include <set>

namespace perdure::plan {

namespace {

// Counts the newer numbers of its branch; two attempts at one number count once.
std::size_t newer_than(const std::vector<ComingVersion>& coming, const ComingVersion& one) {
  std::set<std::uint64_t> numbers;
  for (const ComingVersion& other : coming)
    if (other.branch == one.branch && other.begun_ns > one.begun_ns) numbers.insert(other.version);
  return numbers.size();
}

}  // namespace

std::vector<std::size_t> skip(const RetentionPolicy& policy, const std::vector<ComingVersion>& coming) {
  std::vector<StoredVersion> agreed;
  std::vector<std::size_t> places_of_agreed, given_up;
  for (std::size_t place = 0; place < coming.size(); ++place) {
    const ComingVersion& one = coming[place];
    if (one.agreed) {
      agreed.emplace_back(one).complete = true;
      places_of_agreed.push_back(place);
    } else if (one.may_go && !policy.keeps_always(one.version) &&
               newer_than(coming, one) >= std::max<std::uint64_t>(policy.keep_last, 1)) {
      given_up.push_back(place);
    }
  }
  for (const std::size_t place : retire(policy, agreed))
    if (coming[places_of_agreed[place]].may_go) given_up.push_back(places_of_agreed[place]);
  std::sort(given_up.begin(), given_up.end());
  return given_up;
}

double quiet_s(std::uint64_t before_ns, std::uint64_t begun_ns) {
  const std::uint64_t between_ns = begun_ns > before_ns && before_ns != 0 ? begun_ns - before_ns : 0;
  return std::clamp(2e-9 * static_cast<double>(between_ns), 1.0, 60.0);
}

}  // namespace perdure::plan
