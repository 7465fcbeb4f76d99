#pragma once
// What /proc lists of a process, which may end, change its memory, and make others while it is read.
#include <sys/types.h>

#include <vector>

#include "base/result.hpp"
#include "process/memory_maps.hpp"

namespace perdure::process {

/// Numbers of its threads, ascending; none: there is no such process (any more).
std::vector<pid_t> threads_of(pid_t process);
/// Of all of its threads, ascending; those that have ended and were not waited for, too.
std::vector<pid_t> children_of(pid_t process);
/// The process and its descendants, parents before their children, those that have ended and are not waited for yet
/// among them. What begins and ends meanwhile may be missing, or be gone.
std::vector<pid_t> list_tree(pid_t root);

/// The state letter of proc(5); X: it is gone.
char state_of(pid_t thread);
/// Also when there is no such thread any more.
bool has_ended(pid_t thread);
/// All of its threads have.
bool has_process_ended(pid_t process);
/// It has ended, or is on its way out: it runs the program no more, and has let go of some of what threads share.
bool is_thread_ending(pid_t process, pid_t thread);
/// All of its threads are.
bool is_process_ending(pid_t process);

/// Mappings that it changes while the kernel lists them may be there twice: then they are read again. Empty: it is a
/// thread of the kernel, or its first thread has ended. PERDURE_NOT_FOUND: it is ending.
base::Result<std::vector<MemoryMap>> read_maps(pid_t process);

}  // namespace perdure::process
