#pragma once
// A rank of an application: its communicator, configuration and store, the nodes of the job, and the engines that serve
// them. Made by a collective call, and attached again where an engine died.
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

/// What a rank does of a checkpoint before its opening, in the hope that all ranks do: then the opening is the
/// agreement on it, too. (docs/adr/0042)
class AheadOfOpening {
 public:
  virtual ~AheadOfOpening() = default;
  struct Piece {
    segment::Attempt attempt;
    bool busy = false;  ///< ipc::Staged
  };
  /// [local] Stages this rank's piece and waits for no other rank. Nothing: it is not staged.
  virtual std::optional<Piece> stage() = 0;
  /// [local] Not all did, `any_staged`: but some: nothing of it remains on this node.
  virtual void abort(bool any_staged) = 0;
};

/// How often a collective call attaches again before it gives up.
inline constexpr unsigned kMostTries = 5;

class Job {
 public:
  /// [collective] With engines attached. `settings` win over all others (config::effective_config).
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
  /// [local] Rank 0 takes the name from the store, for all ranks; to be called before the call's agreement.
  base::Status hold(const std::string& name, NameClaims::Access access);
  /// [local] For the opening of a collective call that says a name: rank 0 adds what it knows of the name's place.
  void add_incarnation(Opening& opening);
  /// At rank 0: the names that this launch owns, and their places in the store.
  NameClaims& names() { return *names_; }
  /// [local] After it: tells the engine of this node what rank 0 saw, where that is news. What cannot be told now is
  /// told after the next such call: the others of the job go on meanwhile.
  void tell_incarnation(const std::string& name, std::uint64_t incarnation);
  std::uint32_t rank() const { return static_cast<std::uint32_t>(comm_->rank()); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(comm_->size()); }
  /// This rank speaks for its node.
  bool leads() const { return comm_->rank() == nodes_.leader; }
  comm::Speaker leader() const { return nodes_.speaker(comm_->rank()); }

  /// [collective] open_collective(), as all calls of a job use it: with the leaders of its nodes.
  base::Result<Opened> exchange(Opening opening, const base::Status& mine);
  /// [collective] The beginning of every collective call: agreement on the call, new engines where some died. `ahead`,
  /// if any, is staged before. Where all ranks have staged, that was the last exchange of the call, and root_words are
  /// the attempt; otherwise `ahead` was aborted.
  base::Result<Opened> begin(Opening opening, const base::Status& mine, AheadOfOpening* ahead = nullptr);
  /// [local] Tells the engine what this rank's next capture will need, where that changed since the last collective
  /// call. A dead engine is no failure: attaching to the next one tells it.
  base::Status announce();
  /// [collective] Connects with engines, new ones where there is none.
  base::Status attach();
  /// [collective]
  base::Result<bool> any_engine_gone();
  /// What this node writes of these segments; without them of a new version.
  std::vector<ipc::PlannedSegment> my_segments(const std::vector<plan::SegmentPlan>& segments) const;
  std::vector<ipc::PlannedSegment> my_segments() const;
  enum class Names { release, keep };
  /// Lets go of the engine; the handle is of no use afterwards. `keep`: names stay this launch's until its lease ends,
  /// or others see the end of this process.
  void leave(Names names);

 private:
  Job() = default;
  base::Status configure(const char* options, const std::vector<std::string>& settings);
  base::Status choose_cpus();
  base::Status open_all(const char* options, const std::vector<std::string>& settings);
  base::Status attach_once();
  void tell_what_is_not_stored();
  base::Status connect(const std::string& socket);
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
  std::map<std::string, std::uint64_t> told_incarnations_;  // to the engine that this rank is connected with
  bool attached_ = false;                                   // once, at least
};

}  // namespace perdure::client
