#pragma once
// Tracks what one position of a group knows about a version's redundancy, and which blocks it can encode next. Pure: no
// thread, no socket, no clock. Messages may come twice and in any order (docs/adr/0014).
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "catalog/redundancy_set.hpp"
#include "redundancy/block_order.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::engine {

/// How a group replicates a version; the same on all positions.
struct GroupScheme {
  const redundancy::Scheme* scheme = nullptr;
  unsigned members = 0;      ///< n; positions 0 .. n-1, and n is the parity server if the scheme has one
  unsigned parities = 0;     ///< m
  std::uint32_t number = 0;  ///< of the group in its epoch
};

/// The place where a block can be read: the network's name of the memory, and the offset in it.
struct BlockPlace {
  std::vector<std::byte> memory;
  std::uint64_t offset = 0;
  friend auto operator<=>(const BlockPlace&, const BlockPlace&) = default;
  PERDURE_FIELDS(memory, offset)
  std::string wrong() const { return memory.size() <= 4096 ? "" : "field 'memory' has more than 4096 bytes"; }
};

/// A block that is in its slot.
struct OfferedBlock {
  std::uint64_t number = 0;
  base::Hash128 hash;
  BlockPlace place;
  PERDURE_FIELDS(number, hash, place)
};

/// A block to be made as the sum of others: one that a position keeps, or one that was lost.
struct EncodingTask {
  struct Source {
    redundancy::Block block;        ///< for messages; of a kept block: the position that keeps it, and its stripe
    redundancy::Symbol factor = 1;  ///< multiplied with the source before it is added
    std::uint64_t length = 0;
    base::Hash128 hash;
    BlockPlace place;
    unsigned holder = 0;  ///< for recovery: the exporter that has it
  };
  catalog::BlockName name;
  std::uint64_t length = 0;
  std::vector<Source> sources = {};        ///< a copy has one, with the factor 1
  std::optional<base::Hash128> hash = {};  ///< of the result, if it is known
};

class Encoding {
 public:
  Encoding(catalog::RedundancyId id, GroupScheme group, unsigned position, std::uint32_t ranks);

  const catalog::RedundancyId& id() const { return protection_.id; }
  const GroupScheme& group() const { return group_; }
  std::uint32_t ranks() const { return protection_.ranks; }
  const std::map<catalog::BlockName, segment::ChunkEntry>& kept_blocks() const { return protection_.kept; }

  /// Notes the pieces that the ranks of a position will have: lengths count, hashes do not yet. Fails with
  /// PERDURE_MISMATCH if they differ from an earlier announcement.
  base::Status announced(unsigned position, std::vector<segment::Piece> pieces);
  /// Notes an offer of a position that has announced. Fails with PERDURE_INVALID_ARGUMENT for a block that it does not
  /// have.
  base::Status offered(unsigned position, const OfferedBlock& block);
  bool has_announced(unsigned position) const { return members_[position].has_value(); }

  /// Returns each task exactly once, as soon as all its sources were offered.
  std::optional<EncodingTask> next_task();
  void kept(const catalog::BlockName& name, const segment::ChunkEntry& chunk) { protection_.kept[name] = chunk; }
  /// The task failed, and next_task() returns it again.
  void failed(EncodingTask task) { ready_.push_back(std::move(task)); }

  /// True if every block of every position was offered, and this position keeps all that it has to keep.
  bool complete() const;
  /// Returns all blocks of the group, by position and number. Only once complete().
  std::vector<std::vector<EncodingTask::Source>> blocks() const;
  /// Returns the record for the catalog. Only once complete().
  catalog::RedundancySet redundancy_set() const;

  /// Notes that a position (possibly this one) keeps its part.
  void keeps(unsigned position) { keepers_.insert(position); }
  bool reached() const;

 private:
  struct Member {
    std::vector<segment::Piece> pieces;
    redundancy::BlockOrder order;
    std::vector<std::optional<BlockPlace>> places;  ///< by block
    std::uint64_t offered = 0;
  };
  bool all_announced() const;
  void consider(redundancy::Block block);
  void consider_kept(const redundancy::Kept& kept);
  void consider_all();
  std::optional<EncodingTask::Source> source(redundancy::Block block, redundancy::Symbol factor) const;
  bool exists(redundancy::Block block) const;
  std::uint64_t count_to_keep() const;

  catalog::RedundancySet protection_;
  GroupScheme group_;
  std::shared_ptr<const redundancy::BlockMap> map_;
  std::vector<std::optional<Member>> members_;
  std::deque<EncodingTask> ready_;
  std::set<catalog::BlockName> given_;
  std::uint64_t to_keep_ = 0;  ///< number of blocks; known once all have announced
  std::set<unsigned> keepers_;
};

}  // namespace perdure::engine
