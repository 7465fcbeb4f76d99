#pragma once
// Which part of protected memory is copied when, and what of a capture can be protected. Pure. (docs/copy-on-write.md)
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace perdure::capture {

/// Memory of a capture and where its copy goes.
struct CopyPart {
  std::uint64_t begin = 0, end = 0;  ///< addresses
  std::byte* to = nullptr;
  std::uint64_t bytes() const { return end - begin; }
  friend bool operator==(const CopyPart&, const CopyPart&) = default;
};

/// What can be protected of parts, and the rest, which is copied at once.
struct CopyChoice {
  std::vector<CopyPart> later;  ///< whole pages, in the order of the parts
  std::vector<CopyPart> now;
};

struct CopyChoiceLimits {
  std::uint64_t page_bytes = 4096;
  std::uint64_t least_bytes = 64 << 10;  ///< what is shorter is copied sooner than it is protected
  std::size_t most_ranges = 1024;        ///< each may take a mapping more; the longest are protected
};

/// `memory`: addresses [first, second) that can be protected, ascending. A page of which a part has some only is copied
/// at once: the rest may be another's.
CopyChoice choose_copy(const std::vector<CopyPart>& parts,
                       const std::vector<std::pair<std::uint64_t, std::uint64_t>>& memory,
                       const CopyChoiceLimits& limits);

enum class BlockState : std::uint8_t {
  untouched,  ///< protected, as it was at the call
  copying,    ///< somebody copies it
  awaited,    ///< the same, and a thread waits to write to it
  copied,     ///< and still protected
  open,       ///< we have it, and it may be written
  dropped,    ///< we have it, and the program has dropped it since: what is there now is nothing of ours
  lost        ///< the program has dropped it before it was copied
};
enum class BlockEvent : std::uint8_t { take, await, finish, open, lose };
/// Nothing: that cannot happen to such a block.
std::optional<BlockState> after(BlockState state, BlockEvent event);

/// Blocks [first, first + count) of one range.
struct BlockRun {
  std::size_t first = 0, count = 0;
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

/// How many blocks are copied, or opened, for a thread that waits. Few at first, as there may be no second one. More
/// each time where it goes on behind the last ones, and where so many have waited that all is likely to be written.
class Stride {
 public:
  /// `patience`: waits until the first time that more are done.
  Stride(std::size_t least, std::size_t most, std::size_t patience);
  std::size_t of(std::size_t number) const;
  /// A thread has waited, and these were done for it.
  void took(const BlockRun& run);

 private:
  std::size_t least_, most_, patience_;
  std::size_t waits_ = 0;
  BlockRun last_;
};

/// Blocks at a time.
struct RunLimits {
  std::size_t rest = 16;   ///< for who copies the rest: what is awaited there waits for all of them
  std::size_t ahead = 64;  ///< after one that a thread has waited for, before the rest goes on
  std::size_t most_faulted = 64;
  std::size_t least_opened = 16, most_opened = 256;
};

/// The blocks of protected memory. Once it is made it allocates nothing. Not thread-safe.
class BlockPlan {
 public:
  /// `ranges`: whole pages, none twice. Blocks begin at multiples of `block_bytes`, but for the first of each range.
  BlockPlan(std::vector<CopyPart> ranges, std::uint64_t block_bytes, const RunLimits& limits = {});
  std::size_t size() const { return states_.size(); }
  const std::vector<CopyPart>& ranges() const { return ranges_; }
  CopyPart block(std::size_t number) const;
  /// The numbers of a range's blocks are [first_of(range), first_of(range + 1)).
  std::size_t first_of(std::size_t range) const { return first_[range]; }
  std::optional<std::size_t> at(std::uint64_t address) const;
  CopyPart part(const BlockRun& run) const;
  /// From this block on up to the next address that is a multiple of `bytes`, or the end of the range.
  BlockRun until_multiple(std::size_t first, std::uint64_t bytes) const;
  BlockState state(std::size_t number) const { return states_[number]; }
  /// False where it cannot.
  bool happens(std::size_t number, BlockEvent event);
  /// To those to which it can.
  void happens(const BlockRun& run, BlockEvent event);
  /// What of [begin, end) we do not have is lost. False: nothing is.
  bool lose(std::uint64_t begin, std::uint64_t end);

  /// What to copy now for who needs `wanted`, which is untouched: taken.
  BlockRun take(std::size_t wanted);
  /// What to copy now for the thread that waits to write to this one, which is untouched: taken. Who writes one block
  /// after the other gets more of them each time.
  BlockRun take_faulted(std::size_t number);
  /// Whether any of them is in that state.
  bool any(const BlockRun& run, BlockState state) const;
  /// What to open for the thread that waits to write to this one, which is copied: it and copied ones around it.
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
