// This OpenMP program is always in the middle of its teams when it is captured. It has nested teams, tasks that wait
// for each other, locks and thread-local memory. Its output does not depend on its duration.
#include <omp.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "judge.hpp"

namespace {

std::uint64_t own = 0;
#pragma omp threadprivate(own)

std::uint64_t fibonacci(unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0, b = 0;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main() {
  std::printf("begun\n");
  std::fflush(stdout);
  omp_set_num_threads(3);
  omp_set_max_active_levels(2);
  omp_lock_t lock;
  omp_init_lock(&lock);
  std::uint64_t sum = 0, in_all = 0, tasks = 0;
  std::vector<std::uint64_t> numbers(20'000, 1);
#pragma omp parallel
  own = static_cast<std::uint64_t>(omp_get_thread_num());
  for (int round = 0; round < 12; ++round) {
#pragma omp parallel for schedule(dynamic, 100)
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = mix(numbers[i] + i);
#pragma omp parallel
    {
      std::uint64_t part = 0;
#pragma omp parallel for num_threads(2) reduction(+ : part)
      for (std::size_t i = 0; i < numbers.size(); ++i) part += numbers[i];
      omp_set_lock(&lock);
      sum += part;
      omp_unset_lock(&lock);
      own = mix(own + part);
    }
#pragma omp parallel
#pragma omp single
    tasks += fibonacci(11);
    const timespec moment{0, 8'000'000};
    nanosleep(&moment, nullptr);  // wait: it is captured meanwhile
  }
#pragma omp parallel reduction(+ : in_all)
  in_all += own;
  omp_destroy_lock(&lock);
  std::printf("teams %016llx %016llx %llu, wrong 0\n", static_cast<unsigned long long>(sum),
              static_cast<unsigned long long>(in_all), static_cast<unsigned long long>(tasks));
  return tasks == 12 * 89 ? 0 : 1;
}
