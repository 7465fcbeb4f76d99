#pragma once
// What clang checks about locks (-Wthread-safety): which mutex guards what, who takes it, who needs it. Empty for other
// compilers.

#if defined(__clang__)
#define PERDURE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PERDURE_THREAD_ANNOTATION(x)
#endif

/// A class that can be held.
#define PERDURE_CAPABILITY(name) PERDURE_THREAD_ANNOTATION(capability(name))
/// A class that holds one from its constructor to its destructor.
#define PERDURE_SCOPED_CAPABILITY PERDURE_THREAD_ANNOTATION(scoped_lockable)
/// A member that is touched only by who holds this mutex.
#define PERDURE_GUARDED_BY(mutex) PERDURE_THREAD_ANNOTATION(guarded_by(mutex))
/// A function that is called only by who holds these.
#define PERDURE_REQUIRES(...) PERDURE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
/// A function that is called only by who does not hold these: it takes them.
#define PERDURE_EXCLUDES(...) PERDURE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
/// A function after which they are held.
#define PERDURE_ACQUIRE(...) PERDURE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
/// A function after which they are not held any more.
#define PERDURE_RELEASE(...) PERDURE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
