// Fuzzes the file of a calibration with any text.
#include <cmath>

#include "calibration/storage.hpp"
#include "target.hpp"

namespace perdure::fuzz {

void run_one(base::ConstByteSpan input) {
  const auto calibration = calibration::decode(text_of(input), "memory.json");
  if (!calibration) return;
  // An accepted calibration predicts positive finite speeds, and is equal after it is written and read.
  const auto model = calibration::model_of(*calibration);
  require(model.has_value());
  for (unsigned writers : {0U, 1U, 7U, 256U, 4'000'000'000U})
    require(std::isfinite(model->bytes_per_s(writers)) && model->bytes_per_s(writers) > 0);
  // The calibration of a starting engine must be plausible for a device, and so must every prediction (a spline may
  // overshoot by half).
  if (calibration::plausible(*calibration, "memory.json"))
    for (unsigned writers = 1; writers <= 256; ++writers)
      require(model->bytes_per_s(writers) >= 5e3 && model->bytes_per_s(writers) <= 1.5e13);
  const std::string text = calibration::encode(*calibration);
  const auto again = calibration::decode(text, "memory.json");
  require(again.has_value() && calibration::encode(*again) == text);
}

std::vector<Bytes> seeds() {
  calibration::Calibration sample{"memory", {"host", "processor", "6.1", 4}, {"/dev/shm", "tmpfs", 1}, 1, 1, 41, 1, {},
                                  {}};
  for (unsigned k = 1; k <= 41; k += 10) sample.recycled.push_back({k, 1e9 + k});
  calibration::Calibration close = sample;
  close.recycled.clear();
  for (unsigned k : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 20U}) close.recycled.push_back({k, 1e6 * k});
  close.fresh = sample.recycled;
  std::vector<Bytes> list;
  for (const std::string& text :
       {calibration::encode(sample), calibration::encode(close), std::string("{\"format\":1}")}) {
    const auto bytes = base::as_bytes(text);
    list.emplace_back(bytes.begin(), bytes.end());
  }
  return list;
}

}  // namespace perdure::fuzz
