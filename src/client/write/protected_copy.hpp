#pragma once
// Copies the content that memory had at one moment, while the program goes on and writes to it. The memory is
// protected. A thread of this class copies blocks that a writer waits for, and the caller of complete() copies the
// rest. (docs/copy-on-write.md)
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>
#include <vector>

#include "base/guarded.hpp"
#include "capture/block_plan.hpp"
#include "os/affinity.hpp"
#include "os/bounced_copy.hpp"
#include "os/thread.hpp"
#include "os/write_protection.hpp"

namespace perdure::client {

/// Counts of the copying.
struct CopyCounts {
  std::uint64_t blocks = 0;  ///< blocks of protected memory
  std::uint64_t waited_for =
      0;                    ///< blocks that were copied because a thread waited for them, or for one shortly before
  std::uint64_t waits = 0;  ///< times that a thread waited for a block that was not copied yet
  std::uint64_t copied_at_once = 0;  ///< bytes that were not protected
};

struct CopyLimits {
  std::uint64_t block_bytes = 16 << 10;  ///< copying that much takes less than waking a waiting thread
  std::uint64_t least_bytes = 64 << 10;  ///< shorter parts are not protected
};

class ProtectedCopy {
 public:
  /// Protects as much of `parts` as it can, and copies the rest. Returns nothing, without copying, if none of them can
  /// be protected. PERDURE_UNSUPPORTED, PERDURE_NO_SPACE: this system, or this process at this time, cannot do it.
  static base::Result<std::unique_ptr<ProtectedCopy>> begin(const std::vector<capture::CopyPart>& parts,
                                                            os::WriteReach least_reach, const CopyLimits& limits = {});
  ProtectedCopy(const ProtectedCopy&) = delete;
  ProtectedCopy& operator=(const ProtectedCopy&) = delete;
  ~ProtectedCopy() { end(); }

  /// The number of blocks of the protected memory.
  std::size_t blocks() const { return first_.back(); }
  /// Returns when this block is copied. Called by one thread. It may copy another block first that a thread is likely
  /// to wait for. PERDURE_INVALID_ARGUMENT: the program has dropped memory that was to be captured.
  base::Status complete(std::size_t block);
  /// Ends the protection: no thread waits for it any more. Called by the thread that calls complete(), or afterwards.
  void end();
  CopyCounts counts();

 private:
  struct State {
    capture::BlockPlan plan;
    CopyCounts counts = {};
    bool gone = false;  // memory was dropped before it was copied
  };
  enum class Answer { yes, later };
  ProtectedCopy(os::WriteProtection protection, std::vector<capture::CopyPart> ranges, std::uint64_t block_bytes);
  base::Status start();
  void protect_all();
  void copy_at_once(std::size_t range);
  Answer finish(const capture::BlockRun& run, int error);
  Answer finish_awaited(const capture::BlockRun& run, int error);
  Answer settle(State& state, const capture::BlockRun& run, int error, os::WriteProtection::Answer allowed, bool open);
  bool abandon(State& state, const capture::BlockRun& run);
  void serve();
  void take_events();
  struct Awaited {
    capture::BlockState state = capture::BlockState::open;
    capture::BlockRun run;  // blocks to copy, or to open
  };
  Awaited look_up(const os::WriteEvent& write);
  void open(const os::WriteEvent& write, const capture::BlockRun& run);
  void serve_write(const os::WriteEvent& write);
  void lose(State& state, std::uint64_t begin, std::uint64_t end);
  std::optional<capture::BlockRun> take(std::size_t wanted);
  void release(const capture::BlockRun& run);
  void make_way();
  bool gone();

  os::WriteProtection protection_;
  std::vector<capture::CopyPart> ranges_;
  capture::BlockPlan blocks_;  // places of the blocks; their states are behind the lock
  std::vector<std::size_t> first_;
  std::vector<bool> mine_;  // ranges that this protects; the others are another handle's, or nobody's
  base::Guarded<State> state_;
  std::condition_variable changed_;
  os::BouncedCopy bounced_;
  os::Fd stop_;
  struct Waiting {  // used by the serving thread
    std::array<os::WriteEvent, 4 * os::WriteProtection::kMostEvents> writes;
    std::size_t count = 0;
  } waiting_;
  struct Answering {  // written by the serving thread, for the thread that copies the rest
    os::CpuSet cpus;
    std::atomic<int> thread = 0;
    int not_on = -1;
  } answering_;
  bool over_ = false;
  os::Thread thread_;
};

}  // namespace perdure::client
