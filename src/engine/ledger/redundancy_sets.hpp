#pragma once
// What this node keeps for the other nodes of its groups, and how long versions stay for the sake of others.
// (docs/adr/0014)
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

  /// All of its blocks are in slots that were taken, or kept under the same id before; the others of those are free.
  base::Status keep(const catalog::RedundancySet& redundancy_set);
  /// Its group has reached level `node`. PERDURE_NOT_FOUND: nothing is kept for it.
  base::Status reached(const catalog::RedundancyId& id);
  base::Status bad_block(const catalog::RedundancyId& id, catalog::BlockName block, const std::string& why);
  base::Status drop(const catalog::RedundancyId& id);
  base::Status drop(const segment::VersionId& id);  ///< all epochs
  /// The job ends: of versions of so many ranks, and of all where it used the name, what the store has whole, or a
  /// newer one of, goes. What has to stay.
  base::Result<std::vector<segment::VersionId>> drop_stored(std::uint32_t ranks,
                                                            const std::vector<ipc::StoredName>& stored);
  /// Of versions of this name that are not on this node, what nobody needs.
  base::Status drop_obsolete(const std::string& name);
  /// After a start: marks the catalog's slots as in use, and gives up what cannot be there any more.
  void adopt();

  /// This launch's: stored parts are told within it only; older redundancy is obsolete once this node's own are stored.
  void in_epoch(std::optional<std::uint64_t> epoch) { epoch_ = epoch; }
  /// Every position of the group has its part in the store: nobody will rebuild it from here.
  void group_stored(const catalog::RedundancyId& id);
  /// On all nodes of the job, this attempt has reached level `node`: older ones of the name can go, but those in
  /// `keep`. Instead of what was said before, in this launch or an earlier one: an application that goes back to an
  /// older version goes on from that.
  void node_level_everywhere(const std::string& name, std::uint64_t attempt_ns,
                             const std::set<std::uint64_t>& keep = {});
  /// Nothing is superseded by what is given up on purpose.
  base::Status retired(const ipc::Retire& retire);

  /// In this launch of the job its group has reached level `node`, and this node still has all of its part of it, or
  /// all of the group have stored theirs.
  bool at_node_level(const segment::VersionId& id) const;
  /// The same. Somebody counts on this version from now on, whatever has superseded it.
  bool promise(const segment::VersionId& id);
  /// What is at level `node` and may be counted on: the newest attempts, ascending.
  std::vector<std::uint64_t> promised_ns(const std::string& name) const;
  /// Level `node` was reached, in any launch, and nothing that came later supersedes it: this node's part of it must
  /// stay.
  bool promised(const segment::VersionId& id) const;
  /// Others may have to rebuild from it, until all have stored their part, or nobody asks for the version any more.
  bool needed(const catalog::RedundancySet& redundancy_set) const;
  /// Something here is needed to rebuild another node.
  bool needed_by_others() const;
  /// Others need this node's part of the version, too.
  bool guarded(const segment::VersionId& id) const;
  /// Blocks on this tier, of other versions, that nobody needs.
  std::uint64_t count_obsolete(std::uint32_t tier, const segment::VersionId& for_version) const;

 private:
  void note_superseded(const catalog::SupersededRecord& record);
  bool superseded(const segment::VersionId& id) const;
  void keep_up(const segment::VersionId& id);
  bool own_part_here(const catalog::RedundancySet& redundancy_set) const;
  void release(const catalog::RedundancySet& before, const catalog::RedundancySet* after);

  NodeTables& node_;
  std::optional<std::uint64_t> epoch_;            // of this node's group
  Remembered<std::uint64_t> group_stored_{1024};  // the epoch in which the group said so: also when the set has gone
};

}  // namespace perdure::engine
