#include "os/affinity.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "os/thread.hpp"

namespace perdure::os {
namespace {

// The kernel's masks are as long as its configuration says, which may be more than cpu_set_t (1,024).
constexpr std::size_t kMaskWords = CpuSet::kMost / (8 * sizeof(unsigned long));

bool set_cpus(int thread, const CpuSet& cpus) {
  return !cpus.empty() && ::sched_setaffinity(thread, cpus.words().size() * sizeof(unsigned long),
                                              reinterpret_cast<const cpu_set_t*>(cpus.words().data())) == 0;
}

CpuSet get_cpus(int thread) {
  std::vector<unsigned long> words(kMaskWords);
  if (::sched_getaffinity(thread, words.size() * sizeof words[0], reinterpret_cast<cpu_set_t*>(words.data())) != 0)
    return {};
  return CpuSet::from_words(words);
}

// The system reuses thread numbers, for other processes, too.
bool is_ours(int thread) { return ::access(("/proc/self/task/" + std::to_string(thread)).c_str(), F_OK) == 0; }

}  // namespace

CpuSet own_cpus() { return get_cpus(0); }

CpuSet reachable_cpus() {
  CpuSet reachable;
  // If no thread can start, the result stays empty.
  (void)run_aside("processors", [&reachable] {
    if (set_cpus(0, CpuSet::all())) reachable = own_cpus();
  });
  return reachable;
}

CpuSet read_cpus(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return CpuSet::parse(text).value_or(CpuSet());
}

void use_cpus(const CpuSet& cpus) { (void)set_cpus(0, cpus); }

int thread_number() { return static_cast<int>(::syscall(SYS_gettid)); }

CpuSet cpus_of_thread(int thread) { return is_ours(thread) ? get_cpus(thread) : CpuSet(); }

void set_cpus_of_thread(int thread, const CpuSet& cpus) {
  if (is_ours(thread)) (void)set_cpus(thread, cpus);
}

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
