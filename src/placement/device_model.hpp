#pragma once
// Models a tier's throughput as a function of the number of ranks that write to it at once (VeloC IPDPS'19, IV-C).
// Pure.
//
// Units: every throughput here is the aggregate of all writers of one node in bytes per second, not that of one writer.
// A curve goes through the samples. It is evaluated at every writer count when it is fitted, so that a prediction is
// one look into a table.
#include <span>
#include <vector>

#include "base/result.hpp"

namespace perdure::placement {

/// The fewest writers with which a tier is about as fast as it gets.
struct SweetSpot {
  unsigned writers = 1;
  double bytes_per_s = 0;  ///< aggregate there
};
inline constexpr double kAsGoodAsBest = 0.995;  ///< this part of the best counts as being as fast

/// Aggregate write throughput of a node's tier, measured with `writers` concurrent writers of one chunk each.
struct Sample {
  unsigned writers = 0;
  double bytes_per_s = 0;
};

inline constexpr unsigned kMaxModelledWriters = 65536;
inline constexpr double kMaxBytesPerS = 1e15;  ///< larger values are nonsense

class DeviceModel {
 public:
  /// Fits a curve through `samples`, which have ascending writer counts, at least 5 of them, or all counts up to
  /// `max_writers`. It is a cubic B-spline if they are equally spaced. Otherwise it is a cubic over the logarithm of
  /// the count that rises and falls only where the samples do. Between two samples a prediction stays between half the
  /// lower and 1.5 times the higher one; outside of them it is that of the nearest. PERDURE_INVALID_ARGUMENT names the
  /// offending sample.
  static base::Result<DeviceModel> fit(std::span<const Sample> samples, unsigned max_writers);

  /// Assumes, without calibration, the same throughput at every count until observations correct it. Assume at least
  /// the expected throughput. A guess that is too low makes producers wait for flushes instead of trying, and so is
  /// never corrected. One that is too high is corrected by the first chunks. Invalid values are replaced by
  /// kAssumedBytesPerS.
  static DeviceModel assumed(double bytes_per_s, unsigned max_writers = 256);
  static constexpr double kAssumedBytesPerS = 500e6;

  /// Returns the predicted aggregate, bytes/s, with `writers` concurrent writers (0 counts as 1; beyond the largest: as
  /// that). Never 0.
  double bytes_per_s(unsigned writers) const;
  /// Returns the fewest writers, at most the given number (0 counts as 1), that reach kAsGoodAsBest of the best
  /// throughput up to it. It is one look into a table, as policies ask for every tier whenever a producer waits.
  SweetSpot sweet_spot(std::uint64_t most) const;
  unsigned max_writers() const { return static_cast<unsigned>(table_.size()); }
  bool calibrated() const { return calibrated_; }
  std::uint64_t observations() const { return observations_; }

  /// Refines the model with an observation: `writers` writers together got `bytes_per_s` (node aggregate: writers times
  /// the rate of one). It moves the prediction there by a part of the difference, and its neighbours by less. A drop by
  /// more than half means that the whole device is slower, not that the curve has another shape. It lowers all counts,
  /// and is undone first. Invalid values are ignored, and one observation never moves a prediction by more than a
  /// factor of 2. `readers` counts flushes that read from the tier meanwhile, and had their share.
  void observe(unsigned writers, double bytes_per_s, unsigned readers = 0);
  /// Weakens, after a while without writes, the belief that the whole device is slower than its curve. So a recovered
  /// device is tried again; ever more slowly after each time that it was slow again.
  void doubt();

 private:
  DeviceModel(std::vector<double> table, bool calibrated) : table_(std::move(table)), calibrated_(calibrated) {
    find_sweet_spots();
  }
  void find_sweet_spots();
  void change_slump(double log2);
  double take_from_whole(double difference, double explained, double gain);

  std::vector<double> table_;    // [writers - 1]
  std::vector<unsigned> sweet_;  // [most - 1], refreshed with the table
  double slump_ = 0;             // by how much (log2, at most 0) the whole table was lowered
  unsigned relapses_ = 0;        // into a slump, since the last that observations ended
  bool calibrated_ = false;
  std::uint64_t observations_ = 0;
};

}  // namespace perdure::placement
