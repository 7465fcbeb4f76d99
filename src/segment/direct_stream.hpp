#pragma once
// Reads a part of a file past the memory that the system keeps of files: ahead, in large blocks, several at a time.
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

/// Two threads read into a few huge pages of this process's own, out of which what is wanted is copied where it is
/// wanted, hashed in the same pass. Straight to where it is wanted takes longer, where that is not in huge pages: the
/// device gets a list of pages then, and virtual ones take each page by itself (docs/flushing.md). A block that cannot
/// be read so, and all that follow, come through the system's memory.
class DirectStream : public ByteStream {
 public:
  static constexpr std::uint64_t kBlockBytes = base::MiB;
  static constexpr std::size_t kBlocks = 4;  ///< in memory at a time
  static constexpr std::size_t kThreads = 2;
  static constexpr int kMostStreams = 2;  ///< at a time in a process: 8 MiB

  /// `usable` is told when the file system refuses. All of them outlive the stream. Nothing: there are as many as may
  /// be, or memory was refused.
  static std::unique_ptr<ByteStream> begin(const os::File& file, const os::DirectFile& direct,
                                           std::atomic<bool>& usable, std::uint64_t offset, std::uint64_t bytes);
  ~DirectStream() override;
  base::Status read(base::ByteSpan target, base::Hasher& hasher) override;

 private:
  /// One of so many in the process, for as long as it lives.
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
  std::uint64_t offset_;             ///< of what is read next
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Block, kBlocks> blocks_;
  std::uint64_t next_ = 0;    ///< that nobody has begun to read
  std::uint64_t in_use_ = 0;  ///< those before are done with
  bool ending_ = false;
  os::Threads threads_;
};

}  // namespace perdure::segment
