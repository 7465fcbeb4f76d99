#pragma once
// Which processors threads run on. Only threads that we made are ever moved.
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "os/cpu_set.hpp"
#include "os/thread.hpp"

namespace perdure::os {

/// Of the calling thread; empty where the system does not say.
CpuSet own_cpus();
/// All that the kernel lets threads of this process have: online, and in the cpuset of its control group (version 1 or
/// 2). A short-lived thread asks for all and reads what it got, which is right also in containers, which hide
/// the group's files. Empty where the system does not say.
CpuSet reachable_cpus();
/// What a file of the kernel lists; empty where it is not there, or lists something else.
CpuSet read_cpus(const std::string& path);
/// Moves the calling thread to those of `cpus` that it may have; with none of them, or none given, it stays where it
/// is. Threads and processes that it starts later inherit them.
void use_cpus(const CpuSet& cpus);
/// The kernel's number of the calling thread.
int thread_number();
/// Of another thread of this process; empty: there is none of this number any more.
CpuSet cpus_of_thread(int thread);
/// Moves it to those of `cpus` that it may have; nothing where there is none of this number, or no such processor.
void set_cpus_of_thread(int thread, const CpuSet& cpus);
/// Of the memory's nodes that the processors `cpus` belong to, all processors; `cpus` where the system does not say.
CpuSet cpus_near(const CpuSet& cpus, const std::string& nodes = "/sys/devices/system/node");

/// Carries out `work` on a thread that uses `cpus`, and returns or throws what it does; std::system_error where the
/// system refuses the thread. Whatever threads and processes it starts use them, too; the caller is not moved. Empty:
/// as the caller.
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
