#include "poisson_level.hpp"

namespace kernels {
namespace {

constexpr double kWeights[] = {0.25, 0.5, 0.25};  // for the values before a point, at it, and after it

// Averages a fine row at the points of a coarse one.
void add_row(const double* fine, double weight, std::int64_t coarse_edge, double* coarse) {
  double before = fine[2 * coarse_edge - 1];
  for (std::int64_t x = 0; x < coarse_edge; ++x) {
    coarse[x] += weight * (kWeights[0] * before + kWeights[1] * fine[2 * x] + kWeights[2] * fine[2 * x + 1]);
    before = fine[2 * x + 1];
  }
}

}  // namespace

template <class Body>
void PoissonLevel::share(const Body& plane) const {
  each(n_, plane, is_shared());
}

// Returns the rows around a row as pointers, so that a loop along the row reads no index of the level.
PoissonLevel::Rows PoissonLevel::rows(std::int64_t y, std::int64_t z) {
  const auto row = [this](std::int64_t j, std::int64_t k) { return &u[at(0, j, k)]; };
  return {n_, row(y, z), row(before(y), z), row(after(y), z), row(y, before(z)), row(y, after(z))};
}

void PoissonLevel::relax(int times) {
  for (int half = 0; half < 2 * times; ++half)
    share([&](std::int64_t z) {
      for (std::int64_t y = 0; y < n_; ++y) {
        const Rows near = rows(y, z);
        const double* right = &f[at(0, y, z)];
        for (std::int64_t x = (y + z + half) & 1; x < near.edge; x += 2)
          near.here[x] = (right[x] + near.neighbours(x)) * (1.0 / 6);
      }
    });
}

double PoissonLevel::find_residual() {
  return sum(
      n_,
      [&](std::int64_t z) {
        double squares = 0;
        for (std::int64_t y = 0; y < n_; ++y) {
          const Rows near = rows(y, z);
          const double* right = &f[at(0, y, z)];
          double* left = &r[at(0, y, z)];
          for (std::int64_t x = 0; x < near.edge; ++x) {
            left[x] = right[x] - (6 * near.here[x] - near.neighbours(x));
            squares += left[x] * left[x];
          }
        }
        return squares;
      },
      is_shared());
}

// The coarse spacing's square is four times the fine one's.
void PoissonLevel::restrict_to(PoissonLevel& coarse) const {
  coarse.share([&](std::int64_t z) {
    for (std::int64_t y = 0; y < coarse.n_; ++y) {
      double* to = &coarse.f[coarse.at(0, y, z)];
      std::fill_n(&coarse.u[coarse.at(0, y, z)], coarse.n_, 0.0);
      std::fill_n(to, coarse.n_, 0.0);
      const std::int64_t ys[] = {before(2 * y), 2 * y, after(2 * y)};
      const std::int64_t zs[] = {before(2 * z), 2 * z, after(2 * z)};
      for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 3; ++j) add_row(&r[at(0, ys[j], zs[k])], 4 * kWeights[j] * kWeights[k], coarse.n_, to);
    }
  });
}

// A point between two coarse ones has the mean of both; one that lies on a coarse one counts it twice.
void PoissonLevel::correct_from(const PoissonLevel& coarse) {
  share([&](std::int64_t z) {
    for (std::int64_t y = 0; y < n_; ++y) {
      const auto row = [&](std::int64_t j, std::int64_t k) {
        return &coarse.u[coarse.at(0, j % coarse.n_, k % coarse.n_)];
      };
      const double *a = row(y / 2, z / 2), *b = row((y + 1) / 2, z / 2);
      const double *c = row(y / 2, (z + 1) / 2), *d = row((y + 1) / 2, (z + 1) / 2);
      double* to = &u[at(0, y, z)];
      for (std::int64_t x = 0, edge = coarse.n_; x < edge; ++x) {
        const std::int64_t next = x + 1 == edge ? 0 : x + 1;
        const double here = a[x] + b[x] + c[x] + d[x];
        to[2 * x] += 0.25 * here;
        to[2 * x + 1] += 0.125 * (here + (a[next] + b[next] + c[next] + d[next]));
      }
    }
  });
}

}  // namespace kernels
