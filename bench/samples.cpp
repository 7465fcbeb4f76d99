#include "samples.hpp"

#include <set>

namespace perdure::bench {
namespace {

std::string bytes_text(double bytes) { return std::to_string(static_cast<long long>(bytes)) + " bytes"; }

}  // namespace

std::string defect_of(const std::vector<Sample>& samples, std::size_t sizes_needed, bool zero_size_allowed) {
  std::set<double> sizes;
  for (const auto& [bytes, seconds] : samples) {
    if (!std::isfinite(bytes) || bytes < 0 || (bytes == 0 && !zero_size_allowed))
      return "a measurement of " + bytes_text(bytes) + " has no throughput; measure positive sizes";
    if (!std::isfinite(seconds) || seconds <= 0)
      return "the measurement of " + bytes_text(bytes) + " took " + std::to_string(seconds) +
             " s, less than the clock can tell; repeat it within one measurement, or measure larger sizes";
    sizes.insert(bytes);
  }
  if (sizes.size() >= sizes_needed) return {};
  return "there are " + std::to_string(sizes.size()) + " different sizes, and the model needs " +
         std::to_string(sizes_needed) + "; measure more sizes";
}

}  // namespace perdure::bench
