#pragma once
// Runs loops and sums on threads. Sums have the same bits in every run, whatever the number of threads. Their parts are
// added in order, which a reduction of OpenMP does not promise.
#include <cstdint>
#include <vector>

namespace kernels {

/// Calls body(i) for i = 0 ... count - 1, in parallel. A thread has the same piece in every loop of `count`, so on NUMA
/// systems memory that it touched first is near it. One thread does all the work if there is too little to share.
template <class Body>
void each(std::int64_t count, const Body& body, [[maybe_unused]] bool is_shared = true) {
#pragma omp parallel for schedule(static) if (is_shared)
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// Returns part(0) + part(1) + ... + part(count - 1), added in this order.
template <class Part>
double sum(std::int64_t count, const Part& part, bool is_shared = true) {
  std::vector<double> parts(static_cast<std::size_t>(count));
  each(
      count, [&](std::int64_t i) { parts[static_cast<std::size_t>(i)] = part(i); }, is_shared);
  double all = 0;
  for (const double one : parts) all += one;
  return all;
}

/// Returns the least part(i).
template <class Part>
double least(std::int64_t count, const Part& part) {
  std::vector<double> parts(static_cast<std::size_t>(count));
  each(count, [&](std::int64_t i) { parts[static_cast<std::size_t>(i)] = part(i); });
  double least_one = parts[0];
  for (const double one : parts) least_one = one < least_one ? one : least_one;
  return least_one;
}

}  // namespace kernels
