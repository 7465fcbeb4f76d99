#include "composition.hpp"

namespace perdure::bench {

const char* formula(Composition composition) {
  switch (composition) {
    case Composition::partner:
      return "t = t_overhead + n / B_write + n / B_read + n / B_exchange + n / B_copy";
    case Composition::buddy:
      return "t = t_overhead + n / B_write + n / B_exchange + n / B_copy";
    case Composition::overlapped:
      return "t = t_overhead + max(n / B_write, n / B_exchange + n / B_copy)";
  }
  return "";
}

double composed_seconds(Composition composition, const Parts& parts, double bytes) {
  const double write = bytes / parts.write_bytes_per_s;
  const double copy = bytes / parts.exchange_bytes_per_s + bytes / parts.copy_bytes_per_s;
  if (composition == Composition::overlapped) return std::fmax(write, copy);
  return composition == Composition::buddy ? write + copy : write + bytes / parts.read_bytes_per_s + copy;
}

Fitted<WholeFit> fit_whole(Composition composition, const Parts& parts, const std::vector<Sample>& wholes) {
  if (std::string why = defect_of(wholes, 1, true); !why.empty()) return tl::unexpected(std::move(why));
  const double needed_read = composition == Composition::partner ? parts.read_bytes_per_s : 1;
  for (const auto& [part, rate] :
       {std::pair{"write", parts.write_bytes_per_s}, std::pair{"read", needed_read},
        std::pair{"exchange", parts.exchange_bytes_per_s}, std::pair{"copy", parts.copy_bytes_per_s}})
    if (!(rate > 0))
      return tl::unexpected("the part \"" + std::string(part) +
                            "\" has no rate, because its times were not measured or " +
                            "do not grow with the size; measure it, with larger sizes or more repetitions");
  WholeFit fit;
  double weights = 0;
  for (const auto& [bytes, seconds] : wholes) {
    const double weight = 1 / (seconds * seconds);
    weights += weight;
    fit.overhead_s += weight * (seconds - composed_seconds(composition, parts, bytes));
  }
  fit.overhead_s /= weights;
  fit.samples = wholes.size();
  fit.residuals = residuals_of(wholes, [&](const Sample& s) {
    return (fit.overhead_s + composed_seconds(composition, parts, s.bytes)) / s.seconds - 1;
  });
  return fit;
}

}  // namespace perdure::bench
