#pragma once
// Reads ahead: threads fill a ring of buffers while the consumer works on earlier ones.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "network/wire.hpp"
#include "os/thread.hpp"

namespace perdure::parity {

/// For one consumer.
class ReadAhead {
 public:
  /// Fills the beginning of `buffer` with piece `index`; returns how much. Called by `threads` threads at once, each
  /// index once, in ascending order.
  using Fetch = std::function<base::Result<std::size_t>(std::size_t index, base::ByteSpan buffer)>;

  /// Requires `buffers` > `threads` > 0.
  ReadAhead(std::size_t count, std::size_t buffers, std::size_t buffer_bytes, unsigned threads, Fetch fetch);
  ~ReadAhead();  ///< waits for reads in flight
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Returns the next piece, in order, at most `count` times; valid until the next call. Or returns the error of its
  /// fetch.
  base::Result<base::ConstByteSpan> next();

 private:
  struct Buffer {
    network::Bytes bytes;
    bool there = false;
    base::Result<std::size_t> filled = 0;
  };
  void run();
  void fetch(std::unique_lock<std::mutex>& lock);

  const std::size_t count_;
  const Fetch fetch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Buffer> buffers_;  // piece i is in buffer i mod size
  std::size_t begun_ = 0;        // pieces whose fetch has begun
  std::size_t consumed_ = 0;     // pieces whose buffer is free again
  std::size_t given_ = 0;        // pieces that next() returned
  bool stopping_ = false;
  os::Threads threads_;
};

}  // namespace perdure::parity
