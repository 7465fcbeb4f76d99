#pragma once
// Computes central differences of fourth order around an index, along dimensions that are known at compile time.
#include <cstdint>

namespace taylor_green {

template <unsigned D, class Field>
double along(const Field& field, std::int64_t offset) {
  return field(D == 0 ? offset : 0, D == 1 ? offset : 0, D == 2 ? offset : 0);
}

template <class At>
double differences(const At& at) {
  return 8.0 * (at(1) - at(-1)) - (at(2) - at(-2));
}

struct Differences {
  double spacing;
  double per_slope = 1.0 / (12.0 * spacing);
  double per_bend = 1.0 / (12.0 * spacing * spacing);

  /// First derivative.
  template <unsigned D, class Field>
  double slope(const Field& field) const {
    return per_slope * differences([&](std::int64_t o) { return along<D>(field, o); });
  }
  /// Second derivative along one dimension.
  template <unsigned D, class Field>
  double bend(const Field& f) const {
    return per_bend *
           (16.0 * (along<D>(f, 1) + along<D>(f, -1)) - 30.0 * f(0, 0, 0) - (along<D>(f, 2) + along<D>(f, -2)));
  }
  template <class Field>
  double laplacian(const Field& field) const {
    return bend<0>(field) + bend<1>(field) + bend<2>(field);
  }
  /// Second derivative along two dimensions, A before B.
  template <unsigned A, unsigned B, class Field>
  double cross(const Field& field) const {
    static_assert(A < B);
    const auto at = [&](std::int64_t a, std::int64_t b) {
      return field(A == 0 ? a : 0, A == 1 ? a : (B == 1 ? b : 0), B == 2 ? b : 0);
    };
    return per_slope * per_slope *
           differences([&](std::int64_t a) { return differences([&](std::int64_t b) { return at(a, b); }); });
  }
  /// Returns the divergence, along D, of a flux of `value` with mass flux `m`. It is the mean of the product's
  /// divergence and of the product rule, so that advection neither adds nor loses squares.
  template <unsigned D, class Mass, class Field>
  double carried(const Mass& m, const Field& value, double slope_of_m) const {
    const double product = per_slope * differences([&](std::int64_t o) { return along<D>(m, o) * along<D>(value, o); });
    return 0.5 * (product + m(0, 0, 0) * slope<D>(value) + value(0, 0, 0) * slope_of_m);
  }
};

}  // namespace taylor_green
