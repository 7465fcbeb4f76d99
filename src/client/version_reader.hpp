#pragma once
// All ranks together choose a version to read. It is brought to the nodes that need it, and any rank reads its own data
// and that of others.
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

/// The bits of perdure_progress::restore_source.
inline constexpr int kFromTier = 1, kFromStore = 2, kFromNodes = 4;

class VersionReader {
 public:
  explicit VersionReader(Job& job) : job_(job), flush_waits_(job) {}
  VersionReader(const VersionReader&) = delete;
  VersionReader& operator=(const VersionReader&) = delete;

  /// [collective] Begins a collective call, and chooses the newest version that every rank can have. `opening.version`
  /// negative: among all. Forgets the earlier choice. `mine`: an error that keeps this rank from calling. Takes two
  /// collectives: the call, with the lengths of the second, and the inventories of all nodes with the store's content,
  /// one for each MiB. A third one follows when the store's content is more than two versions of this job's size. Two
  /// more follow if a piece is not in place and nodes keep redundancy of it. All are repeated if the store lost data of
  /// one of its versions that other nodes need.
  base::Status choose(const Opening& opening, const base::Status& mine);
  const segment::VersionId& id() const { return id_; }
  /// The ranks' facts about their regions when it was chosen. If no rank has any region that is not a part of an array,
  /// versions of all numbers of ranks are candidates.
  const RegionNews& regions() const { return regions_; }
  std::uint32_t ranks() const { return where_.plan().ranks; }
  /// Another number of ranks wrote it: no rank has a piece of its own, and fetch() brings none.
  bool of_other_ranks() const { return ranks() != job_.ranks(); }
  /// The places of its pieces.
  const Whereabouts& where() const { return where_; }
  /// [collective] Another rank reads the data that any rank found damaged in the store, and sets it aside if it sees
  /// the damage, too. True when there was such data. Data that proved good can be read when the same version is chosen
  /// again.
  base::Result<bool> read_again();
  /// [local] Stops using slots of this node that could not be read, more than once: other nodes may have, or rebuild,
  /// their content.
  void set_aside_unread();
  /// [collective] Excludes this version from later choices. `why`: the reason, as far as this rank knows.
  base::Status exclude(const base::Error& why);
  /// The versions that are newer than the chosen one, after a choice of the newest; the same on all ranks.
  const std::vector<PassedOver>& passed_over() const { return passed_.over; }
  /// Tells whether other nodes have damaged data when the same version is chosen again.
  bool repairable() const { return of_other_ranks() ? where_.plan().on_nodes : !sources_.empty(); }

  /// [collective] Brings lost data to where its ranks run now. All ranks get the same result.
  base::Status fetch();
  /// Comes after a fetch() that failed, for reason `why`. True when the store has the data that is not in place, once
  /// for each version. Then it is read from there when the same version is chosen again. False if no fetch() failed.
  bool leave_to_store(const base::Error& why);
  /// [local] Sends the data that this node got to the store with the rest of its version. PERDURE_OK when nothing was
  /// fetched.
  base::Status commit_fetched();
  /// [local] Replicates data that came from nodes anew: the next loss may come soon.
  base::Status replicate_again();
  /// Tells whether this rank's data came from other nodes.
  bool fetched() const;

  /// Gives the piece of any rank. [local] PERDURE_NOT_FOUND when it is neither on this node nor in the store. The
  /// pointer is valid until the next choose() or release().
  base::Result<const segment::Piece*> locate(std::uint32_t rank);
  /// Reads a whole chunk of any rank's piece, which locate() found, to `spans`, as RankImage::read_chunk() does.
  /// [local]
  base::Status read_chunk(std::uint32_t rank, std::size_t chunk, const std::vector<capture::MemorySpan>& spans);
  /// [local] Closes the store's file of this rank, as no more of it is read for now.
  void let_go(std::uint32_t rank);
  /// Reads bytes [range.begin, range.end()) of any rank's capture to `target`, which has their length. [local] Every
  /// chunk that has any of them is verified as a whole. PERDURE_INVALID_ARGUMENT beyond the capture's end.
  base::Status read(std::uint32_t rank, capture::ChunkRange range, base::ByteSpan target);
  /// Reads the ranges of any rank's data that `target` needs (as its accept() said). [local]
  base::Status restore(std::uint32_t rank, const std::vector<capture::ChunkRange>& needed, capture::Target& target);
  /// Bytes read of all ranks' data since choose().
  BytesRead bytes_read() const;
  /// [local] Lets the node use the slots again.
  void release();

 private:
  /// The holdings of all nodes and the store.
  struct Seen {
    JobInventory all;
    StoreView store;
  };
  /// State at leaders.
  struct Here {
    std::vector<std::byte> told;               ///< message of this node to all
    std::vector<ipc::RedundancySummary> kept;  ///< redundancy that it keeps, and did not tell yet
  };
  struct Fetching {
    std::vector<std::uint32_t> wanted;  ///< ranks whose data the leader's engine has to fetch
    std::vector<ipc::NodeToAsk> nodes;  ///< the nodes that it asks
    bool needed = false;
    bool failed = false;
  };
  base::Status report(const Opening& opening);
  bool is_for_others(const ipc::HeldSummary& held, const Opening& opening) const;
  base::Result<bool> await_stored(const ipc::HeldSummary& held, const Opening& opening);
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
  std::vector<plan::PieceSource> sources_;  // by rank, if engines reach each other; the same on all ranks
  std::optional<std::vector<plan::SegmentPlan>> segments_;  // and the segments that the store still needs
  Fetching fetching_;
  std::map<std::uint32_t, RankImage> images_;
  std::optional<Suspect> suspect_;  // a segment that does not say where a rank's data is
  struct Passed {
    std::set<segment::VersionId> excluded;  ///< versions that were tried, and are not to be tried again
    std::vector<PassedOver> over;           ///< these, and versions that could not be tried
  } passed_;
  std::set<segment::VersionId> not_fetched_;  // versions that could not be fetched, and are in the store
  /// Version, node and segment of losses that the node was already asked to bring to the store again.
  std::set<std::tuple<segment::VersionId, std::uint32_t, std::uint32_t>> asked_again_;
  std::set<segment::VersionId> awaited_;  // versions of these that others need
  FlushWaits flush_waits_;
};

}  // namespace perdure::client
