#pragma once
// Plans which part of protected memory is copied when, and which part of a capture can be protected. Pure.
// (docs/copy-on-write.md)
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace perdure::capture {

/// Memory of a capture and the target of its copy.
struct CopyPart {
  std::uint64_t begin = 0, end = 0;  ///< addresses
  std::byte* to = nullptr;
  std::uint64_t bytes() const { return end - begin; }
  friend bool operator==(const CopyPart&, const CopyPart&) = default;
};

/// The protectable part of a capture, and the rest, which is copied at once.
struct CopyChoice {
  std::vector<CopyPart> later;  ///< whole pages, in the order of the parts
  std::vector<CopyPart> now;
};

struct CopyChoiceLimits {
  std::uint64_t page_bytes = 4096;
  std::uint64_t least_bytes = 64 << 10;  ///< shorter ranges are copied faster than they are protected
  std::size_t most_ranges = 1024;        ///< each may take one more mapping; the longest are protected
};

/// `memory` has the addresses [first, second) that can be protected, ascending. A page of which a part has only some is
/// copied at once: the rest may be another's.
CopyChoice choose_copy(const std::vector<CopyPart>& parts,
                       const std::vector<std::pair<std::uint64_t, std::uint64_t>>& memory,
                       const CopyChoiceLimits& limits);

enum class BlockState : std::uint8_t {
  untouched,  ///< protected, unchanged since the call
  copying,    ///< a thread copies it
  awaited,    ///< a thread copies it, and another waits to write to it
  copied,     ///< copied, and still protected
  open,       ///< we have it, and it may be written
  dropped,    ///< we have it, and the program has dropped it since: its present content is not ours
  lost        ///< the program has dropped it before it was copied
};
enum class BlockEvent : std::uint8_t { take, await, finish, open, lose };
/// Returns the next state; nothing if the event cannot happen to such a block.
std::optional<BlockState> after(BlockState state, BlockEvent event);

/// Blocks [first, first + count) of one range.
struct BlockRun {
  std::size_t first = 0, count = 0;
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

/// Chooses how many blocks are copied, or opened, for a waiting thread. It begins with few, as there may be no second
/// wait. It takes more each time if the thread continues behind the last ones. It also does if so many threads have
/// waited that all is likely to be written.
class Stride {
 public:
  /// `patience` is the number of waits before it takes more for the first time.
  Stride(std::size_t least, std::size_t most, std::size_t patience);
  std::size_t of(std::size_t number) const;
  /// Records that a thread has waited, and these were done for it.
  void took(const BlockRun& run);

 private:
  std::size_t least_, most_, patience_;
  std::size_t waits_ = 0;
  BlockRun last_;
};

/// Blocks at a time.
struct RunLimits {
  std::size_t rest = 16;   ///< for the thread that copies the rest: waiting threads wait for all of them
  std::size_t ahead = 64;  ///< after a block that a thread has waited for, before the rest goes on
  std::size_t most_faulted = 64;
  std::size_t least_opened = 16, most_opened = 256;
};

/// The blocks of protected memory. It allocates nothing after construction. Not thread-safe.
class BlockPlan {
 public:
  /// `ranges` are whole pages, none twice. Blocks begin at multiples of `block_bytes`, except the first of each range.
  BlockPlan(std::vector<CopyPart> ranges, std::uint64_t block_bytes, const RunLimits& limits = {});
  std::size_t size() const { return states_.size(); }
  const std::vector<CopyPart>& ranges() const { return ranges_; }
  CopyPart block(std::size_t number) const;
  /// The numbers of a range's blocks are [first_of(range), first_of(range + 1)).
  std::size_t first_of(std::size_t range) const { return first_[range]; }
  std::optional<std::size_t> at(std::uint64_t address) const;
  CopyPart part(const BlockRun& run) const;
  /// Returns the run from this block up to the next address that is a multiple of `bytes`, or the end of the range.
  BlockRun until_multiple(std::size_t first, std::uint64_t bytes) const;
  BlockState state(std::size_t number) const { return states_[number]; }
  /// Applies the event; false if it cannot happen.
  bool happens(std::size_t number, BlockEvent event);
  /// Applies the event to those blocks to which it can happen.
  void happens(const BlockRun& run, BlockEvent event);
  /// Marks as lost the part of [begin, end) that we do not have. False: nothing is lost.
  bool lose(std::uint64_t begin, std::uint64_t end);

  /// Takes the blocks to copy now for a caller that needs `wanted`, which is untouched.
  BlockRun take(std::size_t wanted);
  /// Takes the blocks to copy now for a thread that waits to write to this one, which is untouched. A thread that
  /// writes one block after the other gets more each time.
  BlockRun take_faulted(std::size_t number);
  /// Whether any of them is in that state.
  bool any(const BlockRun& run, BlockState state) const;
  /// Returns the blocks to open for a thread that waits to write to this copied one: it and copied ones around it.
  BlockRun take_copied(std::size_t number);

 private:
  std::size_t range_of(std::size_t number) const;
  BlockRun take_from(std::size_t first, std::size_t most);

  std::vector<CopyPart> ranges_;
  std::vector<std::size_t> by_address_;  // numbers of ranges
  std::vector<std::size_t> first_;       // by range, and the number of all
  std::vector<BlockState> states_;
  std::uint64_t block_bytes_;
  RunLimits limits_;
  std::size_t ahead_ = 0, ahead_end_ = 0;
  Stride faulted_, opened_;
};

}  // namespace perdure::capture
