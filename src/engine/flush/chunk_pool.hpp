#pragma once
// The threads that bring chunks to the store, for all versions of an engine: so many, however many versions wait.
#include <condition_variable>
#include <list>
#include <mutex>
#include <vector>

#include "os/thread.hpp"

namespace perdure::engine {

/// A version's flush, as the pool sees it. Called with no lock but, where it says so, the pool's.
class ChunkWork {
 public:
  virtual ~ChunkWork() = default;
  /// How many more threads could begin with a chunk, beside so many that are in it. With the pool's lock.
  virtual std::size_t room(std::size_t inside) const = 0;
  /// One thread is about to call flush_chunk(). False: there is no room. With the pool's lock.
  virtual bool enter(std::size_t inside) = 0;
  /// One chunk, or none when others were faster. `buffer` is of this thread, kept between calls.
  virtual void flush_chunk(std::vector<std::byte>& buffer) = 0;
  /// A thread failed it.
  virtual void fail(const base::Error& why) = 0;
};

/// Thread-safe. Its threads begin when they are first needed, and end with it. They wait for the gate, a slot's device
/// and the store, never for ranks, nor for another version: each comes back, whatever other flushes wait for.
class ChunkPool {
 public:
  explicit ChunkPool(std::size_t most) : most_(most) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() { stop(); }

  void add(ChunkWork& work);
  /// Returns when no thread is in it any more.
  void remove(ChunkWork& work);
  /// Some work has more room. PERDURE_NO_SPACE when not one thread could be had.
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
  std::mutex mutex_;  // that of a work is taken with it held
  std::condition_variable changed_;
  std::list<Entry> entries_;  // the one that was served last is the last
  std::size_t idle_ = 0;      // threads that look for work, or are about to
  bool stopping_ = false;
  os::Threads threads_;
};

}  // namespace perdure::engine
