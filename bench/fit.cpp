#include "fit.hpp"

#include <algorithm>
#include <cmath>

namespace perdure::bench {
namespace {

using Samples = std::vector<Sample>;

struct Line {
  double constant = 0, slope = 0;
  double at(double bytes) const { return constant + slope * bytes; }
};

// Minimises the squares of (line - t) / t; replaces a negative constant by 0.
Line weighted_line(const Samples& samples) {
  double weights = 0, mean_bytes = 0, mean_seconds = 0;
  for (const auto& [bytes, seconds] : samples) {
    const double weight = 1 / (seconds * seconds);
    weights += weight;
    mean_bytes += weight * bytes;
    mean_seconds += weight * seconds;
  }
  mean_bytes /= weights;
  mean_seconds /= weights;
  double together = 0, alone = 0, through_zero_above = 0, through_zero_below = 0;
  for (const auto& [bytes, seconds] : samples) {
    const double weight = 1 / (seconds * seconds), apart = bytes - mean_bytes;
    together += weight * apart * (seconds - mean_seconds);
    alone += weight * apart * apart;
    through_zero_above += weight * bytes * seconds;
    through_zero_below += weight * bytes * bytes;
  }
  const double slope = together / alone, constant = mean_seconds - slope * mean_bytes;
  if (constant >= 0 || through_zero_below <= 0) return {std::max(constant, 0.0), slope};
  return {0, through_zero_above / through_zero_below};
}

// Sums the squares of (n / line - B) / B = t / line - 1; infinite if the line is not positive.
double throughput_cost(const Samples& samples, const Line& line) {
  double cost = 0;
  for (const auto& [bytes, seconds] : samples) {
    if (line.at(bytes) <= 0) return INFINITY;
    cost += std::pow(seconds / line.at(bytes) - 1, 2);
  }
  return cost;
}

// Makes one Gauss-Newton step for throughput_cost; bytes are counted in `scale`, so that both columns have similar
// size.
Line gauss_newton_step(const Samples& samples, const Line& line, double scale) {
  double cc = 0, cs = 0, ss = 0, rc = 0, rs = 0;
  for (const auto& [bytes, seconds] : samples) {
    const double model = line.at(bytes), residual = seconds / model - 1;
    const double by_constant = -seconds / (model * model), by_slope = by_constant * bytes / scale;
    cc += by_constant * by_constant;
    cs += by_constant * by_slope;
    ss += by_slope * by_slope;
    rc += by_constant * residual;
    rs += by_slope * residual;
  }
  const double determinant = cc * ss - cs * cs;
  if (!(std::abs(determinant) > 0)) return {};
  return {-(ss * rc - cs * rs) / determinant, -(cc * rs - cs * rc) / determinant / scale};
}

Line throughput_line(const Samples& samples) {
  double scale = 0;
  for (const Sample& sample : samples) scale = std::max(scale, sample.bytes);
  Line line = weighted_line(samples);
  for (int round = 0; round < 100; ++round) {
    const Line step = gauss_newton_step(samples, line, scale);
    const double before = throughput_cost(samples, line);
    double part = 1;
    Line next = line;
    for (; part > 1e-6; part /= 2) {
      next = {line.constant + part * step.constant, line.slope + part * step.slope};
      if (throughput_cost(samples, next) < before) break;
    }
    if (part <= 1e-6) break;
    line = next;
  }
  if (line.constant >= 0) return line;
  double rates = 0, squares = 0;  // through zero, the best rate has a closed form
  for (const auto& [bytes, seconds] : samples) {
    rates += seconds / bytes;
    squares += std::pow(seconds / bytes, 2);
  }
  return {0, squares / rates};
}

Fitted<Fit> fit_of(const Samples& samples, const Line& line) {
  if (!std::isfinite(line.slope) || line.slope <= 0)
    return tl::unexpected<std::string>(
        "the times do not grow with the size, so that there is no bandwidth to fit; measure larger sizes, or repeat "
        "more often");
  Fit fit;
  fit.constant_s = line.constant;
  fit.bytes_per_s = 1 / line.slope;
  fit.samples = samples.size();
  return fit;
}

}  // namespace

double Fit::seconds(double bytes) const { return constant_s + std::max(bytes - free_bytes, 0.0) / bytes_per_s; }

Fitted<Fit> fit_time(const Samples& samples, double mtu_bytes) {
  Samples counted = samples;
  if (std::string why = defect_of(counted, 2, true); !why.empty()) return tl::unexpected(std::move(why));
  for (Sample& sample : counted) sample.bytes = std::max(sample.bytes - mtu_bytes, 0.0);
  if (std::string why = defect_of(counted, 2, true); !why.empty()) return tl::unexpected(why + " than the MTU");
  auto fit = fit_of(counted, weighted_line(counted));
  if (!fit) return fit;
  fit->free_bytes = mtu_bytes;
  fit->residuals = residuals_of(samples, [&](const Sample& s) { return fit->seconds(s.bytes) / s.seconds - 1; });
  return fit;
}

Fitted<Fit> fit_throughput(const Samples& samples) {
  if (std::string why = defect_of(samples, 2, false); !why.empty()) return tl::unexpected(std::move(why));
  auto fit = fit_of(samples, throughput_line(samples));
  if (!fit) return fit;
  fit->residuals = residuals_of(samples, [&](const Sample& s) { return s.seconds / fit->seconds(s.bytes) - 1; });
  return fit;
}

}  // namespace perdure::bench
