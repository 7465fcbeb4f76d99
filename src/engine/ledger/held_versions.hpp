#pragma once
// The life of a version on this node: staged, committed or aborted, read, set aside, exported, dropped.
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ledger/redundancy_sets.hpp"
#include "engine/ledger/slot_writes.hpp"

namespace perdure::engine {

/// What is here of a version, and kept for it, of all epochs.
struct Exported {
  struct Piece {
    segment::Piece piece;
    std::vector<std::optional<tier::SlotAddress>> slots;  ///< by chunk; nothing: not to be used
  };
  std::vector<Piece> pieces;
  std::vector<catalog::RedundancySet> redundancy_sets;
};

class HeldVersions {
 public:
  HeldVersions(NodeTables& node, Captures& captures, SlotWrites& writes, RedundancySets& redundancy)
      : node_(node), captures_(captures), writes_(writes), redundancy_(redundancy) {}

  /// After a start: marks the catalog's slots as in use, and drops what cannot be there any more.
  base::Status recover();

  // ---- from ranks
  /// A launch begins, or attaches again.
  void launch(const ipc::LaunchNodes& launch);
  base::Status stage(ClientId client, const ipc::Stage& stage);
  /// Every piece is staged, so that the version holds: where the catalog cannot take the record now, that is made up
  /// for later.
  base::Status commit(const ipc::Commit& commit);
  base::Status abort(ClientId client, const segment::VersionId& id);
  /// Unless it is committed by now, it may go before a checkpoint is refused, and goes when a newer one is committed.
  void keep_remains(const segment::VersionId& id);
  base::Result<const segment::Piece*> locate(ClientId client, const segment::VersionId& id, std::uint32_t rank);
  /// Its slots on this node, and those of what is kept for it, stay as they are until unpinned.
  void pin(ClientId client, const segment::VersionId& id);
  void unpin(ClientId client, const segment::VersionId& id);
  void unpin(ClientId client);
  base::Status quarantine(const ipc::Quarantine& quarantine);
  /// Drops what it names, and what is kept for it.
  base::Status retire(const ipc::Retire& retire);
  /// What is held, or kept for other nodes, of the attempts that it names.
  std::set<segment::VersionId> named_by(const ipc::Retire& retire) const;
  void client_gone(ClientId client);
  std::vector<ipc::HeldSummary> inventory(const std::string& name, std::uint64_t launch = 0) const;

  // ---- after nodes were lost
  /// Its slots stay as they are only while somebody has it pinned.
  Exported export_pieces(const segment::VersionId& id) const;
  /// A piece that was fetched or rebuilt into slots that were taken to keep. Replaces one that is not restorable.
  base::Status adopt(const segment::VersionId& id, std::uint32_t ranks, const segment::Piece& piece);

  // ---- from other parts of the node's state
  base::Status write_delayed_commits();
  /// The store may work again by now: versions that were given up get another chance, in their old order.
  void requeue_given_up();
  /// A slot is recycled only after the catalog says so.
  base::Status drop(const segment::VersionId& id);
  /// It is in the store, and nobody needs its slots: they are free for whoever wants them.
  bool evictable(const catalog::HeldVersion& held) const;
  static bool can_be_written(const catalog::HeldVersion& held, const catalog::LocalSegment& segment);
  /// A segment of it is not stored, and all its pieces are here.
  static bool has_pieces_to_write(const catalog::HeldVersion& held);

 private:
  void hold_back(const segment::VersionId& id, const catalog::HeldVersion& held);
  base::Status commit_more(const ipc::Commit& commit, const catalog::HeldVersion& held);
  void recorded(const catalog::HeldVersion& held);
  void count_chunks(const segment::VersionId& id, const segment::Piece& piece);
  void give_tiers_another_chance();
  bool adopt_slots(const catalog::HeldVersion& held);
  void release_slots(const catalog::HeldVersion& held);
  base::Status drop_impossible(const std::vector<segment::VersionId>& ids);
  void drop_remains(const segment::VersionId& newer);
  std::vector<std::uint64_t> nodes_of(std::uint64_t launch) const;
  ipc::CaptureNodes capture_nodes(const catalog::HeldVersion& held, std::uint64_t launch) const;

  NodeTables& node_;
  Captures& captures_;
  SlotWrites& writes_;
  RedundancySets& redundancy_;
  std::uint64_t next_order_ = 1;
  static constexpr std::size_t kMostLaunches = 16;
  std::deque<ipc::LaunchNodes> launches_;  // the last ones that told their nodes
};

}  // namespace perdure::engine
