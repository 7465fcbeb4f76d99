#include "engine/ledger/interference.hpp"

#include <algorithm>
#include <vector>

namespace perdure::engine {

void Interference::step(ClientId client, double now_s, double seconds) {
  if (const auto load = flushing_.load(now_s - seconds, now_s))
    ranks_[client].step(now_s - seconds, now_s, load->fraction, load->at_once);
}

std::optional<double> Interference::middle(std::optional<double> (metrics::StepTime::*value)() const) const {
  std::vector<double> known;
  for (const auto& [client, times] : ranks_)
    if (const auto one = (times.*value)()) known.push_back(*one);
  if (known.empty()) return std::nullopt;
  const auto at = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), at, known.end());
  return *at;
}

std::uint64_t Interference::most(std::uint64_t (metrics::StepTime::*value)() const) const {
  std::uint64_t greatest = 0;
  for (const auto& [client, times] : ranks_) greatest = std::max(greatest, (times.*value)());
  return greatest;
}

}  // namespace perdure::engine
