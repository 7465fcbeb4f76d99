#pragma once
// What an application process holds: the state behind a perdure_t. The C functions check arguments and call these;
// collective calls are those that perdure.h marks so. Every call is made under the handle's mutex (capi), so nothing
// here is thread-safe by itself.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "config/config.hpp"
#include "ipc/channel.hpp"
#include "plan/missing_segments.hpp"
#include "plan/recovery.hpp"
#include "plan/settlement.hpp"
#include "redundancy/groups.hpp"
#include "region/region.hpp"
#include "session/agreement.hpp"
#include "session/drain.hpp"
#include "session/engine_host.hpp"
#include "session/nodes.hpp"
#include "session/sources.hpp"
#include "session/topology.hpp"
#include "session/warmer.hpp"
#include "store/store.hpp"
#include "tier/slot_io.hpp"

namespace perdure::session {

/// What the engine of one node holds of one version.
struct NodeHolding {
  std::uint32_t node = 0;
  ipc::HeldSummary held;
};

/// The segments of a version that engines have written or will write.
std::vector<plan::StoredPart> committed_parts(const std::vector<NodeHolding>& all, const segment::VersionId& id);

/// What all engines of the job have.
struct JobInventory {
  std::vector<NodeHolding> held;
  std::vector<std::pair<std::uint32_t, ipc::KeptSummary>> kept;  ///< with the node
};
struct RecoveryPlan {
  std::vector<plan::PieceSource> sources;                  ///< by rank
  std::optional<std::vector<plan::SegmentPlan>> segments;  ///< that the store still needs; nothing: it cannot be whole
};
struct RecoveryPlans {
  std::map<segment::VersionId, RecoveryPlan> of;  ///< versions of as many ranks as there are now
  std::uint32_t other_ranks = 0;                  ///< some version has so many; 0: none
};

class Session {
 public:
  static base::Result<std::unique_ptr<Session>> open(std::unique_ptr<comm::Communicator> comm, const char* options);

  base::Status protect(const region::Region& region);
  base::Status unprotect(std::int32_t id);
  base::Status checkpoint(const std::string& name, std::int64_t version);
  base::Result<std::uint64_t> latest(const std::string& name);
  base::Result<segment::RegionEntry> stored_size(const std::string& name, std::int64_t version, std::int32_t id);
  /// `ids` nothing: all protected regions.
  base::Status restore(const std::string& name, std::int64_t version,
                       const std::optional<std::vector<std::int32_t>>& ids);
  base::Status wait(const std::string& name, std::int64_t version, int level, double timeout_s);
  base::Result<perdure_level> level_reached(const std::string& name, std::int64_t version);
  base::Result<perdure_progress> progress();
  base::Result<std::string> next_report();
  base::Status retire(const std::string& name, std::int64_t version);
  base::Status close();
  std::int32_t process() const { return process_; }

 private:
  Session() = default;
  bool leads() const { return comm_->rank() == nodes_.leader; }
  std::uint32_t rank() const { return static_cast<std::uint32_t>(comm_->rank()); }

  // attach.cpp: engines
  base::Status choose_cpus();
  base::Status attach();
  base::Status attach_once();
  base::Status connect_engine(const std::string& socket);
  base::Result<std::vector<ipc::HeldSummary>> inventory(const std::string& name);
  /// The same as a collective call: where an engine died, all ranks attach again and ask again.
  base::Result<std::vector<ipc::HeldSummary>> inventory_for_restore(const std::string& name);
  base::Result<std::vector<ipc::HeldSummary>> inventory_together(const std::string& name);
  base::Result<bool> any_engine_gone();

  // groups.cpp: the other nodes
  bool redundant() const;
  base::Status join_group();
  base::Status choose_job_key();
  base::Status tell_join(const redundancy::GroupPlan& plan, const std::vector<std::vector<std::byte>>& addresses,
                         std::uint64_t epoch);
  base::Result<std::vector<std::vector<std::byte>>> open_network();
  base::Result<redundancy::GroupPlan> plan_group(const Topology& topology) const;
  void add_protected(Opening& opening);
  void note_protected(const std::string& name, std::uint64_t attempt_ns);
  void protect_unfinished();
  base::Result<bool> wait_protected(const std::optional<segment::VersionId>& held, std::uint64_t timeout_ns);

  // recover.cpp: what was lost with nodes
  base::Result<JobInventory> gather_inventories(const ipc::Inventory& question);
  base::Result<RecoveryPlans> plan_recoveries(const std::string& name, const StoreView& store, bool store_unread);
  void explain(const RecoveryPlans& plans, const segment::VersionId& taken);
  base::Error nothing_found(const std::string& name, std::int64_t version, bool excluded_some,
                            const RecoveryPlans& plans) const;
  /// Brings pieces to where their ranks run now; all ranks together.
  base::Status fetch_missing(Selected& selected);
  base::Result<std::vector<std::vector<std::byte>>> gather_loans(const segment::VersionId& id);
  std::vector<std::uint32_t> ranks_to_fetch(const Selected& selected) const;
  base::Status commit_recovered(const Selected& selected);
  base::Status protect_again(const Selected& selected);

  base::Status announce();
  base::Status check_chunks(const region::Region& region) const;
  /// The beginning of every collective call: agreement on the call, new engines where some died.
  base::Result<Opened> begin(Opening opening, const base::Status& mine);

  // settle.cpp
  base::Status settle();
  base::Result<std::vector<NodeHolding>> gather_holdings();
  base::Result<StoreView> stored_parts(const std::vector<segment::VersionId>& ids, bool& unread);
  base::Status carry_out(const segment::VersionId& id, const plan::Settlement& settlement);

  // checkpoint.cpp
  void tell_step(std::uint64_t entered_ns);
  void look_at_name(const std::string& name);
  base::Status check_version_free(const std::string& name, std::uint64_t version) const;
  base::Status capture(const segment::VersionId& id);
  base::Result<segment::ChunkEntry> capture_somewhere(tier::SlotAddress slot, region::ChunkRange range,
                                                      ipc::Grant& grant);
  base::Status give_back(const segment::VersionId& id, const tier::SlotAddress& slot);
  base::Status tell_begun(const segment::VersionId& id, segment::Piece piece,
                          const std::vector<region::ChunkRange>& ranges);
  base::Status tell_written(const segment::VersionId& id, std::size_t index, const segment::ChunkEntry& chunk);
  base::Result<segment::ChunkEntry> capture_chunk(const tier::SlotAddress& slot, region::ChunkRange range);
  base::Status commit_or_abort(const segment::VersionId& id, const base::Status& outcome);
  std::vector<ipc::PlannedSegment> my_segments() const;

  // select.cpp: which version, and where it is
  base::Result<StoreView> look_at_store(const std::string& name, std::int64_t version);
  base::Result<Selected> select(const std::string& name, std::int64_t version,
                                const std::set<segment::VersionId>& excluded);
  base::Result<PieceSource> find_piece(const Selected& selected);

  // restore.cpp
  base::Status restore_from(PieceSource& source, const std::vector<std::int32_t>& wanted);
  base::Status restore_chunk(PieceSource& source, std::size_t chunk, const std::vector<region::Part>& parts);
  base::Status read_from_slot(const PieceSource& source, std::size_t chunk, const std::vector<region::Part>& parts);
  base::Status read_from_store(PieceSource& source, std::size_t chunk, const std::vector<region::Part>& parts);

  // levels.cpp
  base::Result<std::optional<segment::VersionId>> held_id(const std::string& name, std::uint64_t version);
  base::Result<bool> complete_in_store(const std::string& name, std::uint64_t version);
  base::Status wait_here(const std::string& name, std::uint64_t version, int level, std::uint64_t timeout_ns);
  base::Result<Left> ask_drain(std::uint64_t timeout_ns);
  base::Status remove_from_store(const std::string& name, std::uint64_t version, bool& found);

  std::unique_ptr<comm::Communicator> comm_;
  config::Config config_;
  plan::Aggregation aggregation_;
  std::unique_ptr<store::Store> store_;
  Nodes nodes_;
  std::string label_;
  std::shared_ptr<engine::Engine> engine_;  // set where this process hosts it
  ipc::Channel channel_;
  std::string node_directory_;  // of the engine
  std::uint64_t chunk_bytes_ = 0;
  bool paced_ = false;  // the engine emulates tiers: it says when a chunk is written
  tier::SlotIo slots_;
  os::CpuSet engine_cpus_;  // for an engine that this process begins
  Warmer warmer_{slots_};
  region::RegionTable regions_;
  std::vector<std::byte> job_key_;
  bool attached_ = false;                              // once, at least
  bool network_open_ = false;                          // the engines reach each other
  bool in_group_ = false;                              // and keep something for each other
  std::map<std::string, std::uint64_t> protected_ns_;  // the newest attempt that all nodes have protected, by name
  std::vector<std::uint64_t> announced_;
  std::uint64_t left_ns_ = 0;                             // the last checkpoint; 0: the time since says nothing
  std::uint64_t outstanding_ = 0;                         // a request for a slot that was posted and not awaited yet
  std::map<std::string, std::set<std::uint64_t>> taken_;  // rank 0: versions that exist, by name
  std::map<std::string, std::uint64_t> newest_attempt_;   // the latest time of any attempt that is known, by name
  std::map<std::string, std::set<std::uint64_t>> whole_in_tiers_;  // when the engines were attached
  perdure_progress progress_{};
  std::int32_t process_ = 0;
};

}  // namespace perdure::session
