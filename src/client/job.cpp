#include "client/job.hpp"

#include <utility>

#include "base/field_codec.hpp"
#include "client/settle.hpp"
#include "config/effective.hpp"
#include "config/engine_cpus.hpp"
#include "os/affinity.hpp"
#include "os/crash_point.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "segment/version_ranges.hpp"

namespace perdure::client {
namespace {

constexpr std::uint64_t kPauseNs = 20'000'000;

// An engine ended, or turned out to be another configuration's: the next look finds a better one.
bool passes(const base::Error& error) {
  return error.code == PERDURE_UNAVAILABLE || error.code == PERDURE_PEER_FAILED ||
         (error.code == PERDURE_BUSY && error.retryable);
}

// A leader's message to the ranks of its node: the socket of its engine, or why there is none.
using Announced = base::Result<std::string>;

}  // namespace

// A rank without memory for its own part of the job says so before the others need that part.
base::Result<std::unique_ptr<Job>> Job::open(std::unique_ptr<comm::Communicator> comm, const char* options,
                                             const std::vector<std::string>& settings) {
  std::unique_ptr<Job> job;
  comm::Communicator& members = *comm;
  PERDURE_CHECK(agree_after(members, "perdure", [&]() -> base::Status {
    auto made = std::unique_ptr<Job>(new Job);
    made->comm_ = std::make_unique<Exchanges>(std::move(comm));
    job = std::move(made);
    return {};
  }));
  PERDURE_CHECK(job->comm_->call([&] { return job->open_all(options, settings); }));
  return job;
}

base::Status Job::open_all(const char* options, const std::vector<std::string>& settings) {
  const base::Status ready = base::caught("perdure", [&] { return configure(options, settings); });
  Opening opening;
  opening.operation = Operation::open;
  opening.name = config_.serialise();
  auto opened = open_collective(*comm_, opening, ready);
  if (!opened && opened.error().code == PERDURE_MISMATCH)
    return base::fail(PERDURE_MISMATCH, "configuration", "it is not the same on all ranks",
                      "give all ranks the same options, environment and file");
  if (!opened) return base::fail(opened.error());
  label_ = node_label(config_, comm_->rank());
  PERDURE_TRY(nodes_, find_nodes(*comm_, label_));
  comm_->expect_leaders(nodes_.labels.size());
  PERDURE_CHECK(attach());
  tell_what_is_not_stored();
  return {};
}

// Tells about versions that an earlier launch left, which ended at once or on another node: the program might not come
// back here. Rank 0's node speaks for all nodes.
void Job::tell_what_is_not_stored() {
  if (rank() != 0 || config_.text("messages") != "stderr") return;
  (void)base::caught("messages", [&]() -> base::Status {
    PERDURE_TRY(const auto held, engine_.inventory(""));
    std::vector<segment::VersionId> ids;
    for (const auto& summary : held)
      if (summary.committed && !summary.stored) ids.push_back(summary.id);
    if (ids.empty()) return {};
    Messages(config_).say("node " + label_ + " has " + std::to_string(ids.size()) +
                          (ids.size() == 1 ? " checkpoint" : " checkpoints") + " that the store has not yet (" +
                          segment::version_ranges(ids) + "); the engine stores them now");
    return {};
  });
}

base::Status Job::configure(const char* options, const std::vector<std::string>& settings) {
  base::Status ready = os::arm_crash_point_from_environment();
  if (ready) ready = os::install_faults_from_environment();
  auto config = config::effective_config(options, settings);
  if (config) config_ = *config;  // in any case: ranks compare it
  PERDURE_CHECK(ready);
  if (!config) return base::fail(config.error());
  engine_.set_prefault(config_.boolean("tier.memory.prefault"));
  engine_.set_short_parts(config_.value("chunk_bytes").origin == config::Origin::default_value);
  PERDURE_CHECK(choose_cpus());
  PERDURE_TRY(aggregation_, plan::parse_aggregation(config_.text("segment.per")));
  PERDURE_TRY(store_, store::make_store(config_.text("store.path"), config_.below("store.")));
  const auto lease_ns = static_cast<std::uint64_t>(config_.real("checkpoint.lease") * 1e9);
  names_ = std::make_unique<NameClaims>(
      *store_, this_launch(config_.text("job"), config_.text("case"), config_.text("launch"), lease_ns), engine_cpus_,
      Messages(config_));
  return {};
}

// Chooses the processors of the engine's threads and of the prefaulter, which works ahead for it. Memory that the
// prefaulter backs should be near the rank that fills it.
base::Status Job::choose_cpus() {
  PERDURE_TRY(const auto chosen, config::engine_cpus(config_));
  engine_cpus_ = chosen.cpus;
  const os::CpuSet near = engine_cpus_ & os::cpus_near(os::own_cpus());
  engine_.prefault_on(near.empty() ? engine_cpus_ : near);
  return {};
}

// An engine may be found in the moment in which it ends, or begins: then a better one can be had at once. All ranks
// decide alike.
base::Status Job::attach() {
  for (unsigned tries = 1;; ++tries) {
    const base::Status outcome = attach_once();
    if (outcome || tries == kMostTries) return outcome;
    PERDURE_TRY(const bool lasting,
                on_any_rank(*comm_, !passes(outcome.error())));  // a peer's failure is judged by that peer
    if (lasting) return outcome;
    os::sleep_ns(tries * kPauseNs);
  }
}

// Leaders get engines, every rank connects, and the undecided attempts of an earlier life are settled.
base::Status Job::attach_once() {
  engine_.disconnect();
  told_incarnations_.clear();
  std::vector<std::byte> mine;
  if (leads()) {
    // An engine that this process hosts is alive: another node's died, and its work must not suffer for that.
    const Messages messages = rank() == 0 ? Messages(config_) : Messages();  // at a restart all nodes may wait alike
    auto hosted = hosted_
                      ? base::Result<HostedEngine>(HostedEngine{hosted_, hosted_->socket_path()})
                      : base::caught("engine", [&] { return obtain_engine(config_, label_, engine_cpus_, messages); });
    if (hosted) hosted_ = hosted->engine;
    mine = base::encode_fields(hosted ? Announced(hosted->socket) : Announced(base::fail(hosted.error())));
  }
  const auto socket = find_socket(mine);
  base::Status outcome = socket ? base::Status() : base::Status(base::fail(socket.error()));
  if (outcome) outcome = base::caught("engine", [&] { return connect(*socket); });
  PERDURE_CHECK(agree(*comm_, outcome));
  PERDURE_CHECK(group_.join());
  PERDURE_CHECK(settle(*this));
  if (std::exchange(attached_, true)) group_.replicate_unfinished();
  return {};
}

// An engine hears who the nodes are before it captures anything, from the rank that speaks for its node.
base::Status Job::connect(const std::string& socket) {
  ipc::Hello hello;
  hello.fingerprint = config_.fingerprint();
  hello.rank = rank();
  hello.first_node = nodes_.first();
  PERDURE_CHECK(engine_.connect(socket, hello));
  if (leads()) PERDURE_CHECK(engine_.channel().call(ipc::LaunchNodes{nodes_.launch, nodes_.hashes}));
  return {};
}

// Gives the socket of this node's engine, if all nodes have one; otherwise the first reason.
base::Result<std::string> Job::find_socket(base::ConstByteSpan mine) {
  std::string socket;
  base::Status lacking;
  PERDURE_CHECK(comm::tell_all(*comm_, leader(), mine, [&](std::size_t node, base::ConstByteSpan told) -> base::Status {
    PERDURE_TRY(const auto announced, base::decode_fields<Announced>(told, "engine announcement"));
    if (!announced && lacking) lacking = base::fail(announced.error());
    if (announced && node == nodes_.mine) socket = *announced;
    return {};
  }));
  PERDURE_CHECK(lacking);
  return socket;
}

base::Result<bool> Job::any_engine_gone() { return on_any_rank(*comm_, engine_.gone()); }

base::Status Job::announce() {
  const auto told = base::caught("engine", [this] { return engine_.announce(); });
  return told || engine_.gone() ? base::Status() : told;
}

base::Status Job::hold(const std::string& name, NameClaims::Access access) {
  if (rank() != 0) return {};
  return base::caught("checkpoint " + name, [&]() -> base::Status {
    auto held = names_->hold(name, access);
    if (!engine_.connected()) return held;
    for (const std::string& news : names_->news()) (void)engine_.channel().call(ipc::Note{news});
    return held;
  });
}

void Job::add_incarnation(Opening& opening) {
  if (rank() != 0 || opening.name.empty()) return;
  base::attempt([&] { opening.incarnation = names_->incarnation(opening.name); });
}

void Job::tell_incarnation(const std::string& name, std::uint64_t incarnation) {
  if (!leads() || incarnation == 0) return;
  (void)base::caught("engine", [&]() -> base::Status {
    if (const auto before = told_incarnations_.find(name);
        before != told_incarnations_.end() && before->second == incarnation)
      return {};
    PERDURE_CHECK(engine_.channel().call(ipc::StoreIncarnation{name, incarnation}));
    told_incarnations_[name] = incarnation;
    return {};
  });
}

base::Result<Opened> Job::exchange(Opening opening, const base::Status& mine) {
  opening.leader = leader();
  return open_collective(*comm_, opening, mine);
}

// Fills in what this rank brings to its opening. Gives its piece, if it staged one.
std::optional<AheadOfOpening::Piece> Job::bring(Opening& opening, const base::Status& ready, AheadOfOpening* ahead) {
  if (ready && opening.operation == Operation::checkpoint)
    base::attempt([&] {
      opening.node_level_bits = 0;  // a rank that does not know its engine's promises reports none
      group_.add_node_levels(opening);
    });
  opening.engine_lost = engine_.gone();
  add_incarnation(opening);
  opening.knows_next = ahead != nullptr;
  std::optional<AheadOfOpening::Piece> staged;
  if (ahead == nullptr) return staged;
  if (ready && !opening.engine_lost) staged = ahead->stage();
  if (staged) opening.staged = {staged->attempt.created_ns, staged->busy};
  if (!staged) opening.engine_lost = engine_.gone();
  return staged;
}

base::Result<Opened> Job::begin(Opening opening, const base::Status& mine, AheadOfOpening* ahead) {
  base::Status ready = mine ? base::caught("engine", [this] { return engine_.take_commit(); }) : mine;
  if (ready) ready = announce();
  const auto staged = bring(opening, ready, ahead);
  auto opened = exchange(opening, ready);
  if (opened && opened->ahead == StagedAhead::by_all && opened->any_engine_lost) opened->ahead = StagedAhead::by_some;
  const bool agreed = opened && opened->ahead == StagedAhead::by_all;
  if (agreed) {
    comm_->last();
    opened->attempt = staged->attempt;
  } else if (ahead != nullptr) {
    ahead->abort(!opened || opened->ahead == StagedAhead::by_some);
  }
  if (!opened) return opened;  // moved: PERDURE_CHECK copies, which needs memory
  if (opened->any_engine_lost) PERDURE_CHECK(attach());
  tell_incarnation(opening.name, opened->incarnation);
  if (opening.operation != Operation::checkpoint) return opened;
  // A rank that fails here leaves a call that has more exchanges. If it has none, the others go on with their
  // agreement, and so does this rank.
  if (!agreed) note_node_levels(opening, *opened);
  if (agreed) base::attempt([&] { note_node_levels(opening, *opened); });
  return opened;
}

// Promises of earlier engines do not bind new ones.
void Job::note_node_levels(const Opening& opening, const Opened& opened) {
  group_.note_node_levels({opening.name, static_cast<std::uint64_t>(opening.version), opened.attempt},
                          opened.any_engine_lost ? 0 : opened.node_level_bits);
}

std::vector<ipc::PlannedSegment> Job::my_segments(const std::vector<plan::SegmentPlan>& segments) const {
  std::vector<ipc::PlannedSegment> mine;
  for (const auto& plan : segments)
    if (plan.node == nodes_.mine) mine.push_back({plan.index, plan.count, plan.ranks});
  return mine;
}

std::vector<ipc::PlannedSegment> Job::my_segments() const {
  return my_segments(plan::lay_out_segments(nodes_.node_of_rank, aggregation_));
}

// The others meet afterwards, whatever this rank can still say of its names: those end with their lease.
void Job::leave(Names names) {
  if (names == Names::release) base::attempt([this] { names_->release(); });
  engine_.disconnect();
  hosted_.reset();
}

}  // namespace perdure::client
