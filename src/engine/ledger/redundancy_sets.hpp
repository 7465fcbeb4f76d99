#pragma once
// Keeps redundancy for the other nodes of this node's groups, and decides how long versions stay for their sake
// (docs/adr/0014).
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ledger/node_tables.hpp"
#include "engine/ledger/remembered.hpp"
#include "ipc/messages.hpp"

namespace perdure::engine {

class RedundancySets {
 public:
  explicit RedundancySets(NodeTables& node) : node_(node) {}

  /// nullptr: nothing is kept under this id.
  const catalog::RedundancySet* find(const catalog::RedundancyId& id) const { return node_.redundancy_set(id); }
  const std::map<catalog::RedundancyId, catalog::RedundancySet>& all() const {
    return node_.catalog.state().redundancy_sets;
  }
  std::vector<ipc::RedundancySummary> inventory(const std::string& name) const;
  std::uint64_t bytes() const;

  /// Keeps the set. All its blocks must be in slots that were taken, or kept under the same id before. The other slots
  /// kept under that id become free.
  base::Status keep(const catalog::RedundancySet& redundancy_set);
  /// The set's group has reached level `node`. Fails with PERDURE_NOT_FOUND if nothing is kept for it.
  base::Status reached(const catalog::RedundancyId& id);
  base::Status bad_block(const catalog::RedundancyId& id, catalog::BlockName block, const std::string& why);
  base::Status drop(const catalog::RedundancyId& id);
  base::Status drop(const segment::VersionId& id);  ///< of all epochs
  /// Call it when the job ends. Drops versions that the store has whole, or has a newer one of: those of `ranks` ranks,
  /// and all of names that the job used. Returns the versions that have to stay.
  base::Result<std::vector<segment::VersionId>> drop_stored(std::uint32_t ranks,
                                                            const std::vector<ipc::StoredName>& stored);
  /// Drops redundancy of versions of this name that nobody needs and that are not on this node.
  base::Status drop_obsolete(const std::string& name);
  /// Call it after a start. Marks the catalog's slots as in use, and drops sets whose content is impossible.
  void adopt();

  /// Sets this launch's epoch. Nodes report stored parts within it only. Older redundancy becomes obsolete once this
  /// node's own parts are stored.
  void in_epoch(std::optional<std::uint64_t> epoch) { epoch_ = epoch; }
  /// Every position of the group has its part in the store, so no node will rebuild it from here.
  void group_stored(const catalog::RedundancyId& id);
  /// On all nodes of the job, this attempt has reached level `node`. Older ones of the name can go, except those in
  /// `keep`. This replaces earlier calls, even of earlier launches: an application that goes back to an older version
  /// continues from that.
  void node_level_everywhere(const std::string& name, std::uint64_t attempt_ns,
                             const std::set<std::uint64_t>& keep = {});
  /// A version that is given up on purpose supersedes nothing any more.
  base::Status retired(const ipc::Retire& retire);

  /// True if its group has reached level `node` in this launch of the job. Besides, this node still has all of its
  /// part, or all of the group have stored theirs.
  bool at_node_level(const segment::VersionId& id) const;
  /// As at_node_level(). If true, somebody relies on this version from now on, even if it is superseded.
  bool promise(const segment::VersionId& id);
  /// Returns the newest attempts at level `node` that may be relied on, ascending, in ns.
  std::vector<std::uint64_t> promised_ns(const std::string& name) const;
  /// True if the version reached level `node`, in any launch, and no later one supersedes it. Then this node's part of
  /// it must stay.
  bool promised(const segment::VersionId& id) const;
  /// True while other nodes may have to rebuild from it: until all have stored their part, or nobody asks for the
  /// version any more.
  bool needed(const catalog::RedundancySet& redundancy_set) const;
  /// True if a set here is needed to rebuild another node.
  bool needed_by_others() const;
  /// True if other nodes need this node's part of the version, too.
  bool guarded(const segment::VersionId& id) const;
  /// Counts the blocks on this tier, of other versions, that nobody needs.
  std::uint64_t count_obsolete(std::uint32_t tier, const segment::VersionId& for_version) const;

 private:
  void note_superseded(const catalog::SupersededRecord& record);
  bool superseded(const segment::VersionId& id) const;
  void keep_up(const segment::VersionId& id);
  bool own_part_here(const catalog::RedundancySet& redundancy_set) const;
  void release(const catalog::RedundancySet& before, const catalog::RedundancySet* after);

  NodeTables& node_;
  std::optional<std::uint64_t> epoch_;  // of this node's group
  // the epoch in which the group reported it; kept when the set has gone
  Remembered<std::uint64_t> group_stored_{1024};
};

}  // namespace perdure::engine
