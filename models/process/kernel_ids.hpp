#pragma once
// What processes have together, as the kernel tells (kcmp).
#include <sys/types.h>

#include <cstdint>

#include "process/descriptors.hpp"

namespace perdure::process {

/// How two things are ordered, by an order that means nothing else; `unknown`: one of them is not there (any more), or
/// the kernel does not tell.
enum class Order : std::uint8_t { same, less, greater, unknown };

/// The open files of two descriptors.
Order compare_files(pid_t one, int descriptor, pid_t other, int other_descriptor);
enum class Shared : std::uint8_t { memory, descriptors, directories, handlers, semaphores };
/// Whether two processes or threads have one of these together.
Order compare(Shared what, pid_t one, pid_t other);
/// Whether `poll` of the process watches the file of `descriptor` by `number`, as the item number `nth` of that number.
bool watches(pid_t process, int poll, int number, std::uint32_t nth, int descriptor);

}  // namespace perdure::process
