#pragma once
// Defines annotations for clang's lock checks (-Wthread-safety): which mutex guards a member, which functions take it
// or need it. Other compilers see empty macros.

#if defined(__clang__)
#define PERDURE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PERDURE_THREAD_ANNOTATION(x)
#endif

/// A class that can be held, such as a mutex.
#define PERDURE_CAPABILITY(name) PERDURE_THREAD_ANNOTATION(capability(name))
/// A class that holds a mutex from its constructor to its destructor.
#define PERDURE_SCOPED_CAPABILITY PERDURE_THREAD_ANNOTATION(scoped_lockable)
/// Only the holder of this mutex may touch this member.
#define PERDURE_GUARDED_BY(mutex) PERDURE_THREAD_ANNOTATION(guarded_by(mutex))
/// Only a holder of these mutexes may call this function.
#define PERDURE_REQUIRES(...) PERDURE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// This function takes these mutexes: no holder of one may call it.
#define PERDURE_EXCLUDES(...) PERDURE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
/// This function acquires these mutexes.
#define PERDURE_ACQUIRE(...) PERDURE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
/// This function releases these mutexes.
#define PERDURE_RELEASE(...) PERDURE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
