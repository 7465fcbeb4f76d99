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
  copied,     ///< and may be written
  lost        ///< the program has dropped it before it was copied
};
enum class BlockEvent : std::uint8_t { take, finish, lose };
/// Nothing: that cannot happen to such a block.
std::optional<BlockState> after(BlockState state, BlockEvent event);

/// The blocks of protected memory. Once it is made it allocates nothing. Not thread-safe.
class BlockPlan {
 public:
  /// `ranges`: whole pages, none twice. Blocks begin at multiples of `block_bytes`, but for the first of each range.
  BlockPlan(std::vector<CopyPart> ranges, std::uint64_t block_bytes);
  std::size_t size() const { return states_.size(); }
  const std::vector<CopyPart>& ranges() const { return ranges_; }
  CopyPart block(std::size_t number) const;
  /// The numbers of a range's blocks are [first_of(range), first_of(range + 1)).
  std::size_t first_of(std::size_t range) const { return first_[range]; }
  std::optional<std::size_t> at(std::uint64_t address) const;
  BlockState state(std::size_t number) const { return states_[number]; }
  /// False where it cannot.
  bool happens(std::size_t number, BlockEvent event);
  /// What of [begin, end) is not copied is lost. False: nothing is.
  bool lose(std::uint64_t begin, std::uint64_t end);

  /// A thread has waited for this block: it is likely to come to the next ones.
  void waited_for(std::size_t number);
  /// Which one to copy now for who needs `wanted`, which is untouched.
  std::size_t next(std::size_t wanted);

 private:
  static constexpr unsigned kAhead = 4;  // of who writes one block after the other
  std::size_t range_of(std::size_t number) const;

  std::vector<CopyPart> ranges_;
  std::vector<std::size_t> by_address_;  // numbers of ranges
  std::vector<std::size_t> first_;       // by range, and the number of all
  std::vector<BlockState> states_;
  std::uint64_t block_bytes_;
  std::size_t ahead_ = 0, ahead_end_ = 0;
};

}  // namespace perdure::capture
