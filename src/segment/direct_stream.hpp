#pragma once
// Reads a part of a file past the page cache: ahead, in large blocks, several at a time.
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "os/direct_file.hpp"
#include "os/memory_map.hpp"
#include "os/thread.hpp"
#include "segment/reader.hpp"

namespace perdure::segment {

/// Two threads read into a few huge pages of this process. The bytes are copied from there to their target, and hashed
/// in the same pass. Reading straight into a target outside of huge pages takes longer. The device then gets a list of
/// pages, and virtual devices take each page by itself (docs/flushing.md). A block that cannot be read this way, and
/// all that follow, come through the page cache.
class DirectStream : public ByteStream {
 public:
  static constexpr std::uint64_t kBlockBytes = base::MiB;
  static constexpr std::size_t kBlocks = 4;  ///< in memory at a time
  static constexpr std::size_t kThreads = 2;
  static constexpr int kMostStreams = 2;  ///< at a time in a process: 8 MiB

  /// `usable` is cleared if the file system refuses. All arguments must outlive the stream. Returns nothing if the
  /// limit of streams is reached, or memory was refused.
  static std::unique_ptr<ByteStream> begin(const os::File& file, const os::DirectFile& direct,
                                           std::atomic<bool>& usable, std::uint64_t offset, std::uint64_t bytes);
  ~DirectStream() override;
  base::Status read(base::ByteSpan target, base::Hasher& hasher) override;

 private:
  /// One of the process's limited streams, as long as it lives.
  class Turn;
  struct Block {
    bool read = false;      ///< or given up
    std::size_t bytes = 0;  ///< of it, from its beginning, that are there
  };
  DirectStream(const os::File& file, const os::DirectFile& direct, std::atomic<bool>& usable, std::uint64_t offset,
               std::uint64_t bytes, os::Mapping memory, std::unique_ptr<Turn> turn);
  void start_threads();
  void read_ahead();
  void fetch(std::uint64_t number);
  std::size_t await(std::uint64_t number);
  void let_go_before(std::uint64_t number);
  base::ByteSpan memory_of(std::uint64_t number) const;

  const os::File& file_;
  const os::DirectFile& direct_;
  std::atomic<bool>& usable_;
  const std::unique_ptr<Turn> turn_;
  const os::Mapping memory_;
  const std::uint64_t first_, end_;  ///< of the file, at pages
  std::uint64_t offset_;             ///< of the next byte to read
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Block, kBlocks> blocks_;
  std::uint64_t next_ = 0;    ///< the first block that no thread has begun
  std::uint64_t in_use_ = 0;  ///< earlier blocks are consumed
  bool ending_ = false;
  os::Threads threads_;
};

}  // namespace perdure::segment
