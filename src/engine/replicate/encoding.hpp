#pragma once
// What one position of a group knows of a version's redundancy, and what it can encode next. Pure: no thread, no
// socket, no clock; what is heard may come twice and in any order. (docs/adr/0014)
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

/// How a group replicates a version, the same on all positions.
struct GroupScheme {
  const redundancy::Scheme* scheme = nullptr;
  unsigned members = 0;      ///< n; positions 0 .. n-1, and n is the parity server where the scheme has one
  unsigned parities = 0;     ///< m
  std::uint32_t number = 0;  ///< of the group in its epoch
};

/// Where a block can be read: as the network names the memory, and the offset in it.
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

/// A block that is to be made as the sum of others: what a position keeps, or one that was lost.
struct EncodingTask {
  struct Source {
    redundancy::Block block;        ///< for messages; of what is kept: who keeps it, and its stripe
    redundancy::Symbol factor = 1;  ///< what it is multiplied with before it is added
    std::uint64_t length = 0;
    base::Hash128 hash;
    BlockPlace place;
    unsigned holder = 0;  ///< for recovery: which exporter it is of
  };
  catalog::BlockName name;
  std::uint64_t length = 0;
  std::vector<Source> sources = {};        ///< of a copy: one, with the factor 1
  std::optional<base::Hash128> hash = {};  ///< that it must have, where that is known
};

class Encoding {
 public:
  Encoding(catalog::RedundancyId id, GroupScheme group, unsigned position, std::uint32_t ranks);

  const catalog::RedundancyId& id() const { return protection_.id; }
  const GroupScheme& group() const { return group_; }
  std::uint32_t ranks() const { return protection_.ranks; }
  const std::map<catalog::BlockName, segment::ChunkEntry>& kept_blocks() const { return protection_.kept; }

  /// The pieces that the ranks of a position will have: lengths count, hashes do not yet. PERDURE_MISMATCH when
  /// something else was said before.
  base::Status announced(unsigned position, std::vector<segment::Piece> pieces);
  /// Of a position that has announced. PERDURE_INVALID_ARGUMENT for a block that it does not have.
  base::Status offered(unsigned position, const OfferedBlock& block);
  bool has_announced(unsigned position) const { return members_[position].has_value(); }

  /// Each exactly once, as soon as all it is made of was offered.
  std::optional<EncodingTask> next_task();
  void kept(const catalog::BlockName& name, const segment::ChunkEntry& chunk) { protection_.kept[name] = chunk; }
  /// It could not be done: next_task() gives it again.
  void failed(EncodingTask task) { ready_.push_back(std::move(task)); }

  /// Every block of every position was offered, and all that this position has to keep is kept.
  bool complete() const;
  /// All blocks of the group, by position and number; once complete().
  std::vector<std::vector<EncodingTask::Source>> blocks() const;
  /// What the catalog is to say then.
  catalog::RedundancySet redundancy_set() const;

  /// A position (this one included) keeps its part.
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
  std::uint64_t to_keep_ = 0;  ///< blocks; once all have announced
  std::set<unsigned> keepers_;
};

}  // namespace perdure::engine
