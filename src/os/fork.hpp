#pragma once
// What a child that the application makes with fork() must not hold on to. A lock or a connection is given back when
// its last duplicate is closed, so that a child that outlives us would keep others waiting for a process that is dead.

namespace perdure::os {

/// In children of fork() this descriptor, which an Fd owns, is /dev/null: closed for what it was, with its number kept
/// so that the child's copy of the Fd closes nothing else. The lock or connection of this process stays. exec() and
/// vfork() need no such care: descriptors are close-on-exec.
void keep_from_children(int fd);

/// Called by Fd before it closes a descriptor.
void forget_descriptor(int fd);

}  // namespace perdure::os
