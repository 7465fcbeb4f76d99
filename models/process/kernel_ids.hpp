#pragma once
// Tells which kernel objects processes share (kcmp).
#include <sys/types.h>

#include <cstdint>

#include "process/descriptors.hpp"

namespace perdure::process {

/// An arbitrary but consistent order of two objects. `unknown`: one of them does not exist (any more), or the kernel
/// does not tell.
enum class Order : std::uint8_t { same, less, greater, unknown };

/// Compares the open files of two descriptors.
Order compare_files(pid_t one, int descriptor, pid_t other, int other_descriptor);
enum class Shared : std::uint8_t { memory, descriptors, directories, handlers, semaphores };
/// Compares whether two processes or threads share one of these.
Order compare(Shared what, pid_t one, pid_t other);
/// Returns whether epoll `poll` of the process watches the file of `descriptor` as `number`. `nth` counts items with
/// the same number.
bool watches(pid_t process, int poll, int number, std::uint32_t nth, int descriptor);

}  // namespace perdure::process
