#pragma once
// Keeps locks and connections from children that the application makes with fork(). A lock or a connection is released
// when its last duplicate is closed. A child that outlives us would keep others waiting for a dead process.

namespace perdure::os {

/// Replaces this descriptor, which an Fd owns, by /dev/null in children of fork(). The number stays taken, so that the
/// child's copy of the Fd closes nothing else. This process keeps the lock or connection. exec() and vfork() need no
/// such care: descriptors are close-on-exec.
void keep_from_children(int fd);

/// Fd calls it before it closes a descriptor.
void forget_descriptor(int fd);

}  // namespace perdure::os
