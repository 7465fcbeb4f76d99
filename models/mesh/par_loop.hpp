#pragma once
// Implements Mesh::par_loop(): it runs rows along x, one after the other or on several threads.
#if defined(_OPENMP)
#include <omp.h>
#endif

#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "mesh/checked_loop.hpp"
#include "mesh/mesh.hpp"

namespace perdure::mesh {
namespace detail {

/// Lets kernels take accessors by reference. The reference is valid during the call of the kernel.
template <class T>
T& lvalue(T&& value) {
  return value;
}

template <class Kernel, class... Rows>
inline void run_row(std::int64_t count, const Kernel& kernel, Rows... rows) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) kernel(lvalue(rows.at(i))...);
}

/// Returns the first index of row number `row` in a box.
inline Index row_begin(const Box& box, std::int64_t row) {
  Index index = box.begin;
  if (box.dimensions < 2) return index;
  const std::int64_t ny = box.end[1] - box.begin[1];
  index[1] += row % ny;
  index[2] += row / ny;
  return index;
}

inline std::int64_t rows_of(const Box& box) {
  std::int64_t rows = 1;
  for (unsigned d = 1; d < box.dimensions; ++d) rows *= box.end[d] - box.begin[d];
  return rows;
}

template <class Kernel, class... Arguments>
void run_rows(int threads, const Box& mine, const Kernel& kernel, const Arguments&... arguments) {
  const std::int64_t count = mine.end[0] - mine.begin[0], rows = rows_of(mine);
#if defined(_OPENMP)
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num();
#pragma omp for schedule(static)
      for (std::int64_t row = 0; row < rows; ++row) {
        const Index first = row_begin(mine, row);
        run_row(count, kernel, arguments.row(first, thread)...);
      }
    }
    return;
  }
#endif
  (void)threads;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Index first = row_begin(mine, row);
    run_row(count, kernel, arguments.row(first, 0)...);
  }
}

template <class T>
Use use_of(const DataArgument<T>& argument) {
  return argument.use;
}
template <class Argument>
Use use_of(const Argument&) {
  return {};
}

template <class Argument>
Reduction* reduction_of(const Argument&) {
  return nullptr;
}
inline Reduction* reduction_of(const ReductionArgument& argument) { return argument.reduction; }

/// Exact sums use their own row type.
template <class Argument>
const Argument& exact(const Argument& argument) {
  return argument;
}
inline ExactArgument exact(const ReductionArgument& argument) { return {argument.reduction}; }

template <class... Arguments>
constexpr bool has_reduction = (std::is_same_v<Arguments, ReductionArgument> || ...);

}  // namespace detail

template <class Kernel, class... Arguments>
void Mesh::par_loop(LoopName name, const Block& block, const Box& range, const Kernel& kernel,
                    const Arguments&... arguments) {
  const std::array<Use, sizeof...(Arguments)> all{detail::use_of(arguments)...};
  std::array<Use, sizeof...(Arguments)> uses;
  std::size_t count = 0;
  for (const Use& use : all)
    if (use.set != nullptr) uses[count++] = use;
  const auto mine = begin_loop(name, block, range, std::span(uses).first(count));
  for (Reduction* reduction : std::initializer_list<Reduction*>{detail::reduction_of(arguments)...})
    if (reduction != nullptr) reduction->open();
  if (!mine) return;
  if (options_.check) {
    CheckedLoop checked(name.text, *mine, std::span(uses).first(count), {detail::reduction_of(arguments)...});
    checked.run([&] {
      for (std::int64_t row = 0; row < detail::rows_of(*mine); ++row) {
        const Index first = detail::row_begin(*mine, row);
        if constexpr (detail::has_reduction<Arguments...>) {
          if (options_.reproducible) {
            detail::run_row(mine->end[0] - mine->begin[0], kernel, detail::exact(arguments).checked(first, checked)...);
            continue;
          }
        }
        detail::run_row(mine->end[0] - mine->begin[0], kernel, arguments.checked(first, checked)...);
      }
    });
    return;
  }
  if constexpr (detail::has_reduction<Arguments...>) {
    if (options_.reproducible) return detail::run_rows(options_.threads, *mine, kernel, detail::exact(arguments)...);
  }
  detail::run_rows(options_.threads, *mine, kernel, arguments...);
}

}  // namespace perdure::mesh
