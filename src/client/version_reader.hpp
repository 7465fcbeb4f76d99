#pragma once
// A version that is read: chosen by all ranks together, brought to the nodes that need it, and read by any rank, its
// own data and that of others.
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "client/absence.hpp"
#include "client/flush_waits.hpp"
#include "client/passed_over.hpp"
#include "client/rank_image.hpp"
#include "client/store_losses.hpp"
#include "client/whereabouts.hpp"

namespace perdure::client {

class VersionReader {
 public:
  explicit VersionReader(Job& job) : job_(job), flush_waits_(job) {}
  VersionReader(const VersionReader&) = delete;
  VersionReader& operator=(const VersionReader&) = delete;

  /// [collective] The beginning of a collective call, with the choice of the newest version that every rank can have;
  /// `opening.version` negative: of all. What was chosen before is forgotten. `mine`: what keeps this rank from
  /// calling. Two collectives: the call, with the lengths of what follows; the inventories of all nodes and the store's
  /// content, one for each MiB. (A third one when the store's content is more than two versions of this job's size;
  /// two more where something is not in place and nodes keep redundancy of it; the same ones again where the store lost
  /// what other nodes need of one that still has it.)
  base::Status choose(const Opening& opening, const base::Status& mine);
  const segment::VersionId& id() const { return id_; }
  /// What ranks said of their regions when it was chosen. Where none has any that is not a part of an array, versions
  /// of all numbers of ranks are chosen from.
  const RegionNews& regions() const { return regions_; }
  std::uint32_t ranks() const { return where_.plan().ranks; }
  /// It was written by another number of ranks: nobody has a piece of its own, and fetch() brings none.
  bool of_other_ranks() const { return ranks() != job_.ranks(); }
  /// Where its pieces are.
  const Whereabouts& where() const { return where_; }
  /// [collective] What any rank found damaged in the store is read by another one, and set aside if that one sees it,
  /// too. True when something was found; what proved good can be read when the same version is chosen again.
  base::Result<bool> read_again();
  /// [local] Slots of this node that could not be read, more than once, are not used any more: other nodes may have, or
  /// rebuild, what is in them.
  void set_aside_unread();
  /// [collective] choose() does not take this one again. `why`: as far as this rank knows.
  base::Status exclude(const base::Error& why);
  /// What is newer than the one that was chosen, of a choice of the newest; the same on all ranks.
  const std::vector<PassedOver>& passed_over() const { return passed_.over; }
  /// What is damaged can be had from other nodes when the same version is chosen again.
  bool repairable() const { return of_other_ranks() ? where_.plan().on_nodes : !sources_.empty(); }

  /// [collective] Brings lost data to where its ranks run now. All ranks get the same.
  base::Status fetch();
  /// After a fetch() that failed, for this reason: true when the store has what is not in place, once for each version.
  /// Then it is read from there when the same version is chosen again. False where no fetch() failed.
  bool leave_to_store(const base::Error& why);
  /// [local] What this node got goes to the store with the rest of its version. PERDURE_OK when
  /// nothing was fetched.
  base::Status commit_fetched();
  /// [local] The next loss may come soon: what came from nodes is replicated anew.
  base::Status replicate_again();
  /// This rank's data came from other nodes.
  bool fetched() const;

  /// What any rank's data consists of. [local] PERDURE_NOT_FOUND when it is neither on this node nor in the store. The
  /// pointer is good until the next choose() or release().
  base::Result<const segment::Piece*> locate(std::uint32_t rank);
  /// A chunk of any rank's as a whole, which locate() found: to `spans`, as RankImage::read_chunk() does. [local]
  base::Status read_chunk(std::uint32_t rank, std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  /// [local] Nothing more is read of this rank for now: no file of the store stays open for it.
  void let_go(std::uint32_t rank);
  /// Bytes [range.begin, range.end()) of any rank's capture to `target`, which has their length. [local] Every chunk
  /// that has any of them is verified as a whole. PERDURE_INVALID_ARGUMENT beyond the capture's end.
  base::Status read(std::uint32_t rank, capture::ChunkRange range, base::ByteSpan target);
  /// What `target` needs (as its accept() said) of any rank's data. [local]
  base::Status restore(std::uint32_t rank, const std::vector<capture::ChunkRange>& needed, capture::Target& target);
  /// Of all ranks' data since choose().
  BytesRead bytes_read() const;
  /// [local] The node may use the slots again.
  void release();

 private:
  /// What all nodes and the store have.
  struct Seen {
    JobInventory all;
    StoreView store;
  };
  /// At leaders.
  struct Here {
    std::vector<std::byte> told;               ///< what this node tells all
    std::vector<ipc::RedundancySummary> kept;  ///< what it keeps, and did not tell yet
  };
  struct Fetching {
    std::vector<std::uint32_t> wanted;  ///< what the leader's engine has to fetch
    std::vector<ipc::NodeToAsk> nodes;  ///< and whom it asks
    bool needed = false;
    bool failed = false;
  };
  base::Status report(const Opening& opening);
  base::Result<bool> wait_for_flushes(const Opening& opening, std::vector<ipc::HeldSummary> held);
  base::Result<Opened> agree_on_call(Opening opening, const base::Status& mine);
  base::Result<Seen> look(const Opening& opening, const std::vector<std::uint64_t>& lengths);
  base::Result<Seen> see(const Opening& opening, const base::Status& mine);
  bool others_need(const StoreLoss& loss, const Opening& opening) const;
  bool bring_again(const Opening& opening, const JobInventory& all, const StoreView& store);
  void forget();
  base::Status forget_held(JobInventory& all, const std::string& name, std::uint64_t forgotten_ns);
  void take(VersionPlan plan, JobInventory all, StoreView store);
  base::Result<RankImage*> image(std::uint32_t rank);
  std::vector<std::uint32_t> ranks_to_fetch() const;
  base::Status recover();
  void pass_over(const VersionPlans& plans, const JobInventory& all, const StoreView& store,
                 const Candidates& candidates);
  void note(const std::string& text);
  base::Result<base::Error> why_nothing(const Opening& opening, const VersionPlans& plans, const JobInventory& all,
                                        const StoreView& store);
  base::Result<VersionsOfName> there_is(const std::string& name, const JobInventory& all, const StoreView& store) const;
  base::Error nothing_found(const Opening& opening, const VersionPlans& plans, const JobInventory& all,
                            const StoreView& store) const;

  Job& job_;
  Here here_;
  segment::VersionId id_;
  RegionNews regions_;
  Whereabouts where_;
  std::vector<plan::PieceSource> sources_;  // by rank, where engines reach each other; the same on all ranks
  std::optional<std::vector<plan::SegmentPlan>> segments_;  // with them: those that the store still needs
  Fetching fetching_;
  std::map<std::uint32_t, RankImage> images_;
  std::optional<Suspect> suspect_;  // a segment that does not say where a rank's data is
  struct Passed {
    std::set<segment::VersionId> excluded;  ///< tried, and not to be tried again
    std::vector<PassedOver> over;           ///< these, and what could not be tried
  } passed_;
  std::set<segment::VersionId> not_fetched_;  // could not be, and are in the store
  /// Version, node and segment: what the store had lost and the node was asked to bring there again.
  std::set<std::tuple<segment::VersionId, std::uint32_t, std::uint32_t>> asked_again_;
  std::set<segment::VersionId> awaited_;  // of these what others need
  FlushWaits flush_waits_;
};

}  // namespace perdure::client
