#pragma once
// A rank of an application has its communicator, configuration and store here, the nodes of the job, and their engines.
// A collective call makes a Job, and attaches again if an engine died.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/agreement.hpp"
#include "client/engine_host.hpp"
#include "client/exchanges.hpp"
#include "client/group_membership.hpp"
#include "client/known_versions.hpp"
#include "client/name_claims.hpp"
#include "client/node_engine.hpp"
#include "client/nodes.hpp"
#include "plan/layout.hpp"
#include "store/store.hpp"

namespace perdure::client {

/// The work of a checkpoint that a rank does before its opening, in the hope that all ranks do it. Then the opening is
/// the agreement on it, too. (docs/adr/0042)
class AheadOfOpening {
 public:
  virtual ~AheadOfOpening() = default;
  struct Piece {
    segment::Attempt attempt;
    bool busy = false;  ///< ipc::Staged
  };
  /// [local] Stages this rank's piece and waits for no other rank. Empty: it is not staged.
  virtual std::optional<Piece> stage() = 0;
  /// [local] Removes the piece from this node, as not all ranks staged theirs. `any_staged`: some did.
  virtual void abort(bool any_staged) = 0;
};

/// The number of times that a collective call attaches before it gives up.
inline constexpr unsigned kMostTries = 5;

class Job {
 public:
  /// [collective] Opens a job with engines attached. `settings` win over all others (config::effective_config).
  static base::Result<std::unique_ptr<Job>> open(std::unique_ptr<comm::Communicator> comm, const char* options,
                                                 const std::vector<std::string>& settings = {});

  Exchanges& comm() const { return *comm_; }
  const config::Config& config() const { return config_; }
  plan::Aggregation aggregation() const { return aggregation_; }
  store::Store& store() const { return *store_; }
  const Nodes& nodes() const { return nodes_; }
  NodeEngine& engine() { return engine_; }
  GroupMembership& group() { return group_; }
  KnownVersions& known() { return known_; }
  /// [local] Rank 0 takes the name from the store, for all ranks. Call it before the call's agreement.
  base::Status hold(const std::string& name, NameClaims::Access access);
  /// [local] Adds rank 0's knowledge of the name's place to the opening of a collective call that says a name.
  void add_incarnation(Opening& opening);
  /// The names that this launch owns, and their places in the store; at rank 0.
  NameClaims& names() { return *names_; }
  /// [local] Tells the engine of this node, after the opening, the incarnation that rank 0 saw, if it is news. If that
  /// fails, the next such call tells it: the others of the job go on meanwhile.
  void tell_incarnation(const std::string& name, std::uint64_t incarnation);
  std::uint32_t rank() const { return static_cast<std::uint32_t>(comm_->rank()); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(comm_->size()); }
  /// Tells whether this rank speaks for its node.
  bool leads() const { return comm_->rank() == nodes_.leader; }
  comm::Speaker leader() const { return nodes_.speaker(comm_->rank()); }

  /// [collective] Makes an open_collective() with the leaders of the job's nodes, as all calls of a job do.
  base::Result<Opened> exchange(Opening opening, const base::Status& mine);
  /// [collective] Begins every collective call: agreement on the call, and new engines if some died. `ahead`, if any,
  /// is staged before. If all ranks have staged, that was the last exchange of the call, of the attempt that they
  /// staged. Otherwise `ahead` was aborted.
  base::Result<Opened> begin(Opening opening, const base::Status& mine, AheadOfOpening* ahead = nullptr);
  /// [local] Tells the engine the needs of this rank's next capture, if they changed since the last collective call. A
  /// dead engine is no failure: attaching to the next one tells it.
  base::Status announce();
  /// [collective] Connects with engines, and starts new ones if there are none.
  base::Status attach();
  /// [collective]
  base::Result<bool> any_engine_gone();
  /// Selects the segments that this node writes; without an argument, gives those of a new version.
  std::vector<ipc::PlannedSegment> my_segments(const std::vector<plan::SegmentPlan>& segments) const;
  std::vector<ipc::PlannedSegment> my_segments() const;
  enum class Names { release, keep };
  /// Disconnects from the engine; the handle cannot be used afterwards. `keep`: names stay this launch's until its
  /// lease ends, or others see the end of this process.
  void leave(Names names);

 private:
  Job() = default;
  base::Status configure(const char* options, const std::vector<std::string>& settings);
  base::Status choose_cpus();
  base::Status open_all(const char* options, const std::vector<std::string>& settings);
  base::Status attach_once();
  void tell_what_is_not_stored();
  base::Status connect(const std::string& socket);
  std::optional<AheadOfOpening::Piece> bring(Opening& opening, const base::Status& ready, AheadOfOpening* ahead);
  void note_node_levels(const Opening& opening, const Opened& opened);
  base::Result<std::string> find_socket(base::ConstByteSpan mine);

  std::unique_ptr<Exchanges> comm_;
  config::Config config_;
  plan::Aggregation aggregation_;
  std::unique_ptr<store::Store> store_;
  Nodes nodes_;
  std::string label_;
  os::CpuSet engine_cpus_;                  // for an engine that this process begins
  std::shared_ptr<engine::Engine> hosted_;  // set where this process hosts it
  NodeEngine engine_;
  GroupMembership group_{*this};
  KnownVersions known_;
  std::unique_ptr<NameClaims> names_;
  std::map<std::string, std::uint64_t>
      told_incarnations_;  // incarnations told to the engine that this rank is connected with
  bool attached_ = false;  // true after the first attach
};

}  // namespace perdure::client
