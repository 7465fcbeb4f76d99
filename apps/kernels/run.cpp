#include "run.hpp"

#include <chrono>

namespace kernels {

void tell(std::FILE* to, const std::string& line) {
  if (to == nullptr) return;
  std::fputs(line.c_str(), to);
  std::fflush(to);
}

bool run_kernel(Kernel& kernel, const Run& run) {
  for (std::int64_t i = 1; i <= run.iterations; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    kernel.step();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    std::string line = text("%6lld %.16e", static_cast<long long>(i), kernel.norm());
    if (run.times) line += text(" %.6f s", taken.count());
    line += '\n';
    if (!run.quiet) tell(run.out, line);
    tell(run.file, line);
  }
  const std::string wrong = kernel.verify();
  const std::string end = wrong.empty() ? "verified: yes\n" : "verified: no, " + wrong + "\n";
  tell(run.out, end);
  tell(run.file, end);
  return wrong.empty();
}

}  // namespace kernels
