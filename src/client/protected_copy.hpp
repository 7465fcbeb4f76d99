#pragma once
// What memory held at one moment, copied while the program goes on and writes to it: the memory is protected, a thread
// of this class copies what somebody waits to write, and whoever calls complete() the rest. (docs/copy-on-write.md)
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

/// What copying met.
struct CopyCounts {
  std::uint64_t blocks = 0;          ///< of protected memory
  std::uint64_t waited_for = 0;      ///< of these, copied because a thread waited for them, or for one shortly before
  std::uint64_t waits = 0;           ///< of a thread, for one that was not copied yet
  std::uint64_t copied_at_once = 0;  ///< bytes that were not protected
};

struct CopyLimits {
  std::uint64_t block_bytes = 16 << 10;  ///< copying that much takes less than waking who waits for it
  std::uint64_t least_bytes = 64 << 10;  ///< of what is protected
};

class ProtectedCopy {
 public:
  /// Protects what it can of `parts`, and copies the rest. Nothing, and nothing was copied: nothing of them can be
  /// protected. PERDURE_UNSUPPORTED, PERDURE_NO_SPACE: this system, or this process at this time, cannot do it.
  static base::Result<std::unique_ptr<ProtectedCopy>> begin(const std::vector<capture::CopyPart>& parts,
                                                            os::WriteReach least_reach, const CopyLimits& limits = {});
  ProtectedCopy(const ProtectedCopy&) = delete;
  ProtectedCopy& operator=(const ProtectedCopy&) = delete;
  ~ProtectedCopy() { end(); }

  /// Of the protected memory.
  std::size_t blocks() const { return first_.back(); }
  /// Returns when this block is copied. By one thread. Another one may be copied before, because somebody is likely to
  /// wait for it. PERDURE_INVALID_ARGUMENT: the program has dropped memory that was to be captured.
  base::Status complete(std::size_t block);
  /// Nobody waits for it any more, and nothing is protected. By the thread that calls complete(), or afterwards.
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
    capture::BlockRun run;  // to copy, or to open
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
  capture::BlockPlan blocks_;  // where blocks are; their states are behind the lock
  std::vector<std::size_t> first_;
  std::vector<bool> mine_;  // ranges that this protects; the others are another handle's, or nobody's
  base::Guarded<State> state_;
  std::condition_variable changed_;
  os::BouncedCopy bounced_;
  os::Fd stop_;
  struct Waiting {  // the serving thread's
    std::array<os::WriteEvent, 4 * os::WriteProtection::kMostEvents> writes;
    std::size_t count = 0;
  } waiting_;
  struct Answering {  // the serving thread, for who copies the rest
    os::CpuSet cpus;
    std::atomic<int> thread = 0;
    int not_on = -1;
  } answering_;
  bool over_ = false;
  os::Thread thread_;
};

}  // namespace perdure::client
