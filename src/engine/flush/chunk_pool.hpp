#pragma once
// A pool of threads copies chunks to the store. All versions of an engine share them, so their number does not grow
// with the versions that wait.
#include <condition_variable>
#include <list>
#include <mutex>
#include <vector>

#include "os/thread.hpp"

namespace perdure::engine {

/// A version's flush, as the pool sees it. The pool calls it without a lock, except where a function says otherwise.
class ChunkWork {
 public:
  virtual ~ChunkWork() = default;
  /// Returns how many more threads could begin a chunk, beside `inside` that have one. Called with the pool's lock.
  virtual std::size_t room(std::size_t inside) const = 0;
  /// Announces that one thread is about to call flush_chunk(). False: there is no room. Called with the pool's lock.
  virtual bool enter(std::size_t inside) = 0;
  /// Flushes one chunk, or none if other threads took the last. Each thread keeps its own `buffer` between calls.
  virtual void flush_chunk(std::vector<std::byte>& buffer) = 0;
  /// Reports that a thread failed while it worked on this flush.
  virtual void fail(const base::Error& why) = 0;
};

/// Thread-safe. Its threads begin when they are first needed, and end with it. They wait for the gate, a slot's device
/// and the store, never for ranks or another version. So each comes back, whatever other flushes wait for.
class ChunkPool {
 public:
  explicit ChunkPool(std::size_t most) : most_(most) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() { stop(); }

  void add(ChunkWork& work);
  /// Returns when no thread works on `work` any more.
  void remove(ChunkWork& work);
  /// Some work has more room. Fails with PERDURE_NO_SPACE if no thread could be had at all.
  base::Status more();
  void stop();  ///< returns when all threads have ended

 private:
  struct Entry {
    ChunkWork* work;
    std::size_t inside = 0;
  };
  void run();
  void failed(const base::Error& why);
  Entry* next();
  std::size_t room() const;

  const std::size_t most_;
  std::mutex mutex_;  // held while a work's own lock is taken
  std::condition_variable changed_;
  std::list<Entry> entries_;  // the entry that was served last stands at the end
  std::size_t idle_ = 0;      // threads that look for work, or are about to
  bool stopping_ = false;
  os::Threads threads_;
};

}  // namespace perdure::engine
