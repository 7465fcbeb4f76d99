#pragma once
// Reads and sets the processors that threads run on. Only threads that Perdure started are ever moved.
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "os/cpu_set.hpp"
#include "os/thread.hpp"

namespace perdure::os {

/// Returns the processors of the calling thread; empty if the system does not say.
CpuSet own_cpus();
/// Returns all processors that the kernel lets threads of this process have: online, and in the cpuset of its control
/// group (version 1 or 2). A short-lived thread asks for all and reads what it got. That is right in containers, too,
/// which hide the group's files. Empty if the system does not say.
CpuSet reachable_cpus();
/// Returns the processors that a file of the kernel lists; empty if there is no such file or it is malformed.
CpuSet read_cpus(const std::string& path);
/// Moves the calling thread to those of `cpus` that it may have. If there are none, it stays where it is. Threads and
/// processes that it starts later inherit them.
void use_cpus(const CpuSet& cpus);
/// Returns the kernel's number of the calling thread.
int thread_number();
/// Returns the processors of another thread of this process; empty if no thread has this number any more.
CpuSet cpus_of_thread(int thread);
/// Moves that thread to those of `cpus` that it may have. Does nothing if there is no such thread or processor.
void set_cpus_of_thread(int thread, const CpuSet& cpus);
/// Returns all processors of the memory nodes that `cpus` belong to; `cpus` if the system does not say.
CpuSet cpus_near(const CpuSet& cpus, const std::string& nodes = "/sys/devices/system/node");

/// Runs `work` on a thread that uses `cpus` (empty: those of the caller), and returns or throws the result of `work`.
/// Throws std::system_error if the system refuses the thread. Threads and processes that `work` starts inherit the
/// processors; the caller is not moved.
template <class Work>
std::invoke_result_t<Work&> on_cpus(const CpuSet& cpus, Work work) {
  if (cpus.empty() || cpus == own_cpus()) return work();
  std::optional<std::invoke_result_t<Work&>> result;
  std::exception_ptr thrown;
  const base::Status done = run_aside("start", [&] {
    try {
      use_cpus(cpus);
      result.emplace(work());
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
  if (!result) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  return std::move(*result);
}

}  // namespace perdure::os
