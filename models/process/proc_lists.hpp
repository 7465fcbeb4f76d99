#pragma once
// Lists threads, children and mappings of a process, which may change while /proc is read.
#include <sys/types.h>

#include <vector>

#include "base/result.hpp"
#include "process/memory_maps.hpp"

namespace perdure::process {

/// Returns the numbers of its threads, ascending; none if the process does not exist (any more).
std::vector<pid_t> threads_of(pid_t process);
/// Returns children of all its threads, ascending, including zombies.
std::vector<pid_t> children_of(pid_t process);
/// Returns the process and its descendants, including zombies, parents before their children. Processes that begin or
/// end meanwhile may be missing or gone.
std::vector<pid_t> list_tree(pid_t root);

/// Returns the state letter of proc(5); X if the thread is gone.
char state_of(pid_t thread);
/// True also if the thread does not exist any more.
bool has_ended(pid_t thread);
/// Returns whether all threads of the process have ended.
bool has_process_ended(pid_t process);
/// Returns whether it has ended or is exiting. An exiting thread runs no more user code, and has released some shared
/// resources.
bool is_thread_ending(pid_t process, pid_t thread);
/// Returns whether all threads of the process are ending.
bool is_process_ending(pid_t process);

/// Reads the mappings. If they change while the kernel lists them, some may appear twice; then it reads again. Empty:
/// it is a kernel thread, or its first thread has ended. PERDURE_NOT_FOUND: it is ending.
base::Result<std::vector<MemoryMap>> read_maps(pid_t process);

}  // namespace perdure::process
