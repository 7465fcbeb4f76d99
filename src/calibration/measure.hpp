#pragma once
// Measures how fast a device takes chunks from many writers at once.
#include <functional>
#include <memory>
#include <string>

#include "device/description.hpp"
#include "placement/device_model.hpp"

namespace perdure::calibration {

/// Aggregates in bytes/s; 0: not measured separately.
struct Round {
  double fresh = 0;
  double recycled = 0;
};

/// An object that can be measured.
class Bench {
 public:
  virtual ~Bench() = default;
  /// Measures `writers` concurrent writers of one chunk each, in fresh slots and then in the same slots again. It
  /// repeats the latter if once is too short to be measured well.
  virtual base::Result<Round> round(unsigned writers, std::uint64_t chunk_bytes) = 0;
};

/// A tier of this machine (threads, each a writer), in its own directory below `parent`, which it removes again.
struct TierToMeasure {
  std::string kind;             ///< as in tier.order
  std::string parent;           ///< made if need be, private
  std::uint64_t max_bytes = 0;  ///< as in tier::TierOptions
};
std::unique_ptr<Bench> tier_bench(const TierToMeasure& tier);

/// Emulates a device in virtual time.
std::unique_ptr<Bench> emulated_bench(const device::Device& device, std::uint64_t seed);

struct Measured {
  std::vector<placement::Sample> recycled, fresh;
};
struct Plan {
  std::vector<unsigned> counts;
  std::uint64_t chunk_bytes = 0;
  unsigned repetitions = 0;
  std::function<void(std::uint64_t)> progress;  ///< called with the bytes written since the last call
};
/// Returns the least bytes that a plan writes: every repetition writes fresh slots and then the same ones again.
std::uint64_t bytes_to_write(const Plan& plan);

/// Returns medians over the repetitions. It measures all counts once before any again, so that a load that comes and
/// goes spoils no count alone. Errors are those of the device, with a remedy.
base::Result<Measured> measure(Bench& bench, const Plan& plan);

/// Measures the counts that placement::counts_to_measure_next chooses, each stage by `stage`; in ascending order.
base::Result<Measured> measure_where_it_bends(
    unsigned max_writers, const std::function<base::Result<Measured>(const std::vector<unsigned>& counts)>& stage);

}  // namespace perdure::calibration
