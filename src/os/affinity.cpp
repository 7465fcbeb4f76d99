#include "os/affinity.hpp"

#include <sched.h>

#include <fstream>
#include <vector>

#include "os/thread.hpp"

namespace perdure::os {
namespace {

// The kernel's masks are as long as it was configured for, cpu_set_t (1,024) or not.
constexpr std::size_t kMaskWords = CpuSet::kMost / (8 * sizeof(unsigned long));

bool set_own(const CpuSet& cpus) {
  return !cpus.empty() && ::sched_setaffinity(0, cpus.words().size() * sizeof(unsigned long),
                                              reinterpret_cast<const cpu_set_t*>(cpus.words().data())) == 0;
}

}  // namespace

CpuSet own_cpus() {
  std::vector<unsigned long> words(kMaskWords);
  if (::sched_getaffinity(0, words.size() * sizeof words[0], reinterpret_cast<cpu_set_t*>(words.data())) != 0)
    return {};
  return CpuSet::from_words(words);
}

CpuSet reachable_cpus() {
  CpuSet reachable;
  // Without a thread nothing is known.
  (void)run_aside("processors", [&reachable] {
    if (set_own(CpuSet::all())) reachable = own_cpus();
  });
  return reachable;
}

CpuSet read_cpus(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return CpuSet::parse(text).value_or(CpuSet());
}

void use_cpus(const CpuSet& cpus) { (void)set_own(cpus); }

CpuSet cpus_near(const CpuSet& cpus, const std::string& nodes) {
  CpuSet near = cpus;
  const CpuSet numbers = read_cpus(nodes + "/online");
  for (unsigned number = 0; number < numbers.words().size() * 8 * sizeof(unsigned long); ++number) {
    if (!numbers.contains(number)) continue;
    const CpuSet node = read_cpus(nodes + "/node" + std::to_string(number) + "/cpulist");
    if (!(node & cpus).empty()) near = near | node;
  }
  return near;
}

}  // namespace perdure::os
