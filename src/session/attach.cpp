// Opening, and getting an engine again when one died.
#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "config/effective.hpp"
#include "config/engine_cpus.hpp"
#include "os/affinity.hpp"
#include "os/crash_point.hpp"
#include "os/fault_rules.hpp"
#include "os/system.hpp"
#include "session/session.hpp"
#include "session/slot_codec.hpp"

namespace perdure::session {
namespace {

constexpr unsigned kMostTries = 5;
constexpr std::uint64_t kPauseNs = 20'000'000;

constexpr std::uint64_t kMaxChunks = 1 << 20;  // of one rank: what one message can describe

// An engine that ended, or that turned out to be another configuration's: the next look finds a better one.
bool passes(const base::Error& error) {
  return error.code == PERDURE_UNAVAILABLE || error.code == PERDURE_PEER_FAILED ||
         (error.code == PERDURE_BUSY && error.retryable);
}

// What a leader tells the ranks of its node.
base::Json host_to_json(const base::Result<HostedEngine>& hosted) {
  if (hosted) return {{"socket", hosted->socket}};
  return ipc::error_reply(hosted.error());
}

}  // namespace

base::Result<std::unique_ptr<Session>> Session::open(std::unique_ptr<comm::Communicator> comm, const char* options) {
  auto session = std::unique_ptr<Session>(new Session);
  session->process_ = os::process_id();
  session->comm_ = std::move(comm);
  base::Status ready = os::arm_crash_point_from_environment();
  if (ready) ready = os::install_faults_from_environment();
  auto config = config::effective_config(options);
  if (ready && !config) ready = base::fail(config.error());
  if (config) session->config_ = *config;
  if (ready) ready = session->choose_cpus();
  if (ready) {
    auto aggregation = plan::parse_aggregation(session->config_.text("segment.per"));
    if (aggregation)
      session->aggregation_ = *aggregation;
    else
      ready = base::fail(aggregation.error());
  }
  if (ready) {
    auto store = store::make_store(session->config_.text("store.path"));
    if (store)
      session->store_ = std::move(*store);
    else
      ready = base::fail(store.error());
  }
  Opening opening;
  opening.operation = Operation::open;
  opening.name = session->config_.serialise();
  auto opened = open_collective(*session->comm_, opening, ready);
  if (!opened && opened.error().code == PERDURE_MISMATCH)
    return base::fail(PERDURE_MISMATCH, "configuration", "it is not the same on all ranks",
                      "give all ranks the same options, environment and file");
  if (!opened) return base::fail(opened.error());
  session->label_ = node_label(session->config_, session->comm_->rank());
  PERDURE_TRY(session->nodes_, find_nodes(*session->comm_, session->label_));
  PERDURE_CHECK(session->attach());
  session->progress_.restored_version = -1;
  return session;
}

// Where the engine's threads and the warmer, which works ahead for it, are to run. Memory that the warmer backs should
// be near the rank that fills it.
base::Status Session::choose_cpus() {
  PERDURE_TRY(const auto chosen, config::engine_cpus(config_));
  engine_cpus_ = chosen.cpus;
  const os::CpuSet near = engine_cpus_ & os::cpus_near(os::own_cpus());
  warmer_.run_on(near.empty() ? engine_cpus_ : near);
  return {};
}

// An engine may be found in the moment in which it ends, or begins: then there is a better one to be had at once. All
// ranks decide alike.
base::Status Session::attach() {
  for (unsigned tries = 1;; ++tries) {
    const base::Status outcome = attach_once();
    if (outcome || tries == kMostTries) return outcome;
    std::uint64_t lasting = passes(outcome.error()) ? 0 : 1;  // a peer's failure is judged by that peer
    PERDURE_CHECK(comm_->allreduce(std::span(&lasting, 1), comm::Reduce::maximum));
    if (lasting != 0) return outcome;
    os::sleep_ns(tries * kPauseNs);
  }
}

// Leaders get engines, everybody connects, and what an earlier life left undecided is settled.
base::Status Session::attach_once() {
  channel_.close();
  warmer_.stop();
  slots_.clear();
  announced_.clear();
  base::Json mine = base::Json::object();
  if (leads()) {
    // An engine that this process hosts is alive: another node's died, and its work must not suffer for that.
    auto hosted = engine_ ? base::Result<HostedEngine>(HostedEngine{engine_, engine_->socket_path()})
                          : obtain_engine(config_, label_, engine_cpus_);
    if (hosted) engine_ = hosted->engine;
    mine = host_to_json(hosted);
  }
  PERDURE_TRY(const auto all, comm::allgather_bytes(*comm_, base::encode_cbor(mine)));
  base::Status outcome;
  std::string socket;
  for (std::size_t rank = 0; rank < all.size() && outcome; ++rank) {
    auto json = base::decode_cbor(all[rank], "engine announcement");
    auto checked = json ? ipc::check_reply(std::move(*json)) : base::Result<base::Json>(base::fail(json.error()));
    if (!checked)
      outcome = base::fail(checked.error());
    else if (static_cast<int>(rank) == nodes_.leader)
      socket = checked->value("socket", std::string());
  }
  if (outcome) outcome = connect_engine(socket);
  PERDURE_CHECK(agree(*comm_, outcome));
  PERDURE_CHECK(join_group());
  PERDURE_CHECK(settle());
  if (std::exchange(attached_, true)) protect_unfinished();
  return {};
}

base::Status Session::connect_engine(const std::string& socket) {
  PERDURE_TRY(channel_, ipc::Channel::connect(socket));
  node_directory_ = socket.substr(0, socket.rfind('/'));
  ipc::Hello hello;
  hello.fingerprint = config_.fingerprint();
  hello.rank = rank();
  hello.first_node = nodes_.first();
  PERDURE_TRY(const auto reply, channel_.call(hello));
  PERDURE_TRY(chunk_bytes_, base::get_u64(reply, "chunk_bytes", "hello"));
  PERDURE_TRY(paced_, base::get_bool(reply, "paced", "hello"));
  if (chunk_bytes_ == 0) return base::fail(PERDURE_CORRUPT, "engine", "it says that chunks have 0 bytes");
  return announce();
}

// Tells the engine what a capture of this rank will need, when that changed.
base::Status Session::announce() {
  std::vector<std::uint64_t> sizes;
  for (const auto& range : region::cut(regions_.bytes(), chunk_bytes_)) sizes.push_back(range.length);
  if (sizes == announced_) return {};
  PERDURE_TRY(const auto reply, channel_.call(ipc::Reserve{sizes}));
  announced_ = sizes;
  if (!config_.boolean("tier.memory.prefault")) return {};
  PERDURE_TRY(const base::Json* slots, base::get_array(reply, "slots", "reserve"));
  PERDURE_TRY(const base::Json* bytes, base::get_array(reply, "bytes", "reserve"));
  for (std::size_t i = 0; i < slots->size() && i < bytes->size(); ++i) {
    PERDURE_TRY(const auto slot, slot_from_json((*slots)[i]));
    if ((*bytes)[i].is_number_unsigned()) warmer_.add(slot, (*bytes)[i].get<std::uint64_t>());
  }
  return {};
}

base::Result<std::vector<ipc::HeldSummary>> Session::inventory(const std::string& name) {
  PERDURE_TRY(const auto reply, channel_.call(ipc::Inventory{name, false}));
  PERDURE_TRY(const base::Json* list, base::get_array(reply, "held", "inventory"));
  std::vector<ipc::HeldSummary> held;
  for (const auto& item : *list) {
    PERDURE_TRY(auto summary, ipc::summary_from_json(item));
    held.push_back(std::move(summary));
  }
  return held;
}

// What is in a temporary segment can be restored from the published one only: its flush is under way, or about to be.
// One that fails is no reason to stop: other versions are left, and the engine reports it.
base::Result<std::vector<ipc::HeldSummary>> Session::inventory_for_restore(const std::string& name) {
  PERDURE_TRY(auto held, inventory(name));
  bool waited = false;
  for (const auto& summary : held) {
    if (summary.moved.empty() || !summary.committed) continue;
    auto stored = channel_.call(ipc::WaitStored{summary.id, 0});
    if (!stored && !channel_.connected()) return base::fail(stored.error());
    waited = true;
  }
  if (!waited) return held;
  return inventory(name);
}

base::Result<bool> Session::any_engine_gone() {
  std::uint64_t gone = channel_.engine_gone() ? 1 : 0;
  PERDURE_CHECK(comm_->allreduce(std::span(&gone, 1), comm::Reduce::maximum));
  return gone != 0;
}

base::Result<std::vector<ipc::HeldSummary>> Session::inventory_together(const std::string& name) {
  for (unsigned tries = 1;; ++tries) {
    auto held = inventory_for_restore(name);
    const base::Status outcome = agree(*comm_, held ? base::Status() : base::Status(base::fail(held.error())));
    if (outcome) return held;
    PERDURE_TRY(const bool gone, any_engine_gone());
    if (!gone || tries == kMostTries) return base::fail(outcome.error());
    PERDURE_CHECK(attach());
  }
}

base::Result<Opened> Session::begin(Opening opening, const base::Status& mine) {
  opening.engine_lost = channel_.engine_gone();
  PERDURE_TRY(auto opened, open_collective(*comm_, opening, mine));
  if (opened.any_engine_lost) PERDURE_CHECK(attach());
  return opened;
}

// No memory is that large, and the tables for so many chunks would exhaust it: refused before anything is allocated.
base::Status Session::check_chunks(const region::Region& region) const {
  std::uint64_t bytes = 0;
  const region::Region* replaced = regions_.find(region.id);
  const std::uint64_t others = regions_.bytes() - (replaced == nullptr ? 0 : replaced->bytes());
  const bool huge = __builtin_mul_overflow(region.element_bytes, region.count, &bytes) ||
                    __builtin_add_overflow(bytes, others, &bytes);
  if (!huge && bytes / std::max<std::uint64_t>(chunk_bytes_, 1) < kMaxChunks) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "region " + std::to_string(region.id),
                    "with it this rank would need more than " + std::to_string(kMaxChunks) + " chunks",
                    "check that the count is not a negative number, or raise chunk_bytes");
}

base::Status Session::protect(const region::Region& region) {
  PERDURE_CHECK(check_chunks(region));
  PERDURE_CHECK(regions_.protect(region));
  // A dead engine is no reason to refuse memory: the next collective call attaches again and announces then.
  if (auto told = announce(); !told && told.error().code != PERDURE_UNAVAILABLE) return told;
  return {};
}

base::Status Session::unprotect(std::int32_t id) {
  PERDURE_CHECK(regions_.unprotect(id));
  if (auto told = announce(); !told && told.error().code != PERDURE_UNAVAILABLE) return told;
  return {};
}

}  // namespace perdure::session
