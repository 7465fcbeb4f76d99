#include "engine/host/node_directory.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "config/directories.hpp"
#include "node/directories.hpp"
#include "node/job_note.hpp"
#include "os/system.hpp"
#include "store/store.hpp"

namespace perdure::engine {
namespace {

constexpr unsigned kMaxInstances = 64;
constexpr std::uint64_t kSecondLookNs = 5'000'000;

NodePaths paths_for(const config::Config& config, const std::string& entry) {
  NodePaths paths{config::node_root(config) + "/" + entry};
  for (const std::string& tier : config::known_tiers()) paths.tiers[tier] = config::tier_directory(config, tier, entry);
  return paths;
}

// A process that checks which engines are alive holds a lock for a moment. So the lock is tried several times before it
// counts as another engine's.
base::Status lock_patiently(const os::File& lock) {
  constexpr int kLooks = 4;
  constexpr std::uint64_t kMoment_ns = 1'000'000;
  for (int look = 1;; ++look) {
    auto locked = lock.try_lock();
    if (locked || locked.error().code != PERDURE_BUSY || look == kLooks) return locked;
    os::sleep_ns(kMoment_ns);
  }
}

std::string fingerprint_of(const NodePaths& paths) {
  auto bytes = os::read_file(paths.node + "/fingerprint", 4096);
  if (!bytes) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

// The owner removes its predecessor's fingerprint and writes its own right after taking the lock; give it that moment.
std::string await_fingerprint(const NodePaths& paths) {
  for (int i = 0; i < 100; ++i) {
    std::string found = fingerprint_of(paths);
    if (!found.empty()) return found;
    os::sleep_ns(10'000'000);
  }
  return {};
}

// A first look may come between the lock and the removal, so another's fingerprint counts only if it is still there at
// the second. If it is ours but was left by a dead owner, the engine's answer to Hello shows that.
bool owner_serves(const NodePaths& paths, const std::string& fingerprint) {
  if (await_fingerprint(paths) == fingerprint) return true;
  os::sleep_ns(kSecondLookNs);
  return await_fingerprint(paths) == fingerprint;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Makes the root of engines' directories; with a `tier`, the root of that tier's slots. No engine removes it, so a
// failure concerns the configuration. The error names the setting that leads here, and the one that would lead
// elsewhere.
base::Status make_root(const config::Config& config, const std::string& path, const std::string& tier) {
  auto made = os::make_private_directory(path);
  if (made) return made;
  const std::string setting = config::root_setting(config, tier);
  const std::string option = setting == "TMPDIR" ? config::root_option(tier) : setting;
  base::Error error = made.error();
  if (const std::string above = parent_of(path);
      error.code == PERDURE_NOT_FOUND && !above.empty() && !os::exists(above).value_or(true))
    error.cause = above + ": no such directory";
  error.cause = "where " + setting + " leads to: " + error.cause;
  const std::string elsewhere = "set " + option + " to a directory that only you can enter, or that can be made";
  error.remedy +=
      (error.remedy.empty() ? (setting == option ? "" : "correct " + setting + ", or ") : ", or ") + elsewhere;
  return base::fail(std::move(error));
}

base::Status make_roots(const config::Config& config, const NodePaths& paths) {
  PERDURE_CHECK(make_root(config, parent_of(paths.node), ""));
  for (const std::string& tier : config.list("tier.order"))
    PERDURE_CHECK(make_root(config, parent_of(paths.tiers.at(tier)), tier));
  return {};
}

enum class Outcome { claimed, other_owner, vanished };

base::Result<Outcome> try_instance(const NodePaths& paths, const config::Config& config, Claim& claim) {
  const std::string fingerprint = config.fingerprint();
  // A former owner may be removing its directory right now.
  if (auto made = os::make_private_directory(paths.node); !made) {
    if (made.error().code != PERDURE_NOT_FOUND) return base::fail(made.error());
    return Outcome::vanished;
  }
  auto lock = os::File::open(paths.node + "/engine.lock", os::Open::create);
  if (!lock && lock.error().code == PERDURE_NOT_FOUND) return Outcome::vanished;
  if (!lock) return base::fail(lock.error());
  if (auto locked = lock_patiently(*lock); !locked) {
    if (locked.error().code != PERDURE_BUSY) return base::fail(locked.error());
    return Outcome::other_owner;
  }
  if (!node::path_leads_to(*lock)) return Outcome::vanished;
  // A process that finds the lock taken must not believe a dead owner's fingerprint.
  PERDURE_CHECK(os::remove_file(paths.node + "/fingerprint"));
  PERDURE_CHECK(os::write_file_atomically(paths.node + "/fingerprint", base::as_bytes(fingerprint)));
  PERDURE_CHECK(node::write_job_note(paths.node, node::note_of(config, claim.node_label)));
  claim.paths = paths;
  claim.lock = std::move(*lock);
  return Outcome::claimed;
}

NodePaths instance_paths(const config::Config& config, const std::string& node_label, unsigned instance) {
  return paths_for(config, node_key(config, node_label) + "." + std::to_string(instance));
}

// Returns the time of the last write there; 0: there is none.
std::uint64_t written_ns(const NodePaths& paths) {
  struct stat catalog {};
  if (::stat((paths.node + "/catalog").c_str(), &catalog) != 0) return 0;
  return static_cast<std::uint64_t>(catalog.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(catalog.st_mtim.tv_nsec);
}

bool is_held(const NodePaths& paths) {
  const auto lock = os::File::open(paths.node + "/engine.lock", os::Open::read_write);
  if (!lock) return false;
  const auto locked = lock->try_lock();
  return !locked && locked.error().code == PERDURE_BUSY;
}

// A live engine of ours comes first. Among dead ones, whatever their configuration, the instance with the last write
// has the newest versions. An engine that found only an empty instance free must not hide them.
std::vector<unsigned> instances_in_order(const config::Config& config, const std::string& node_label) {
  const std::string fingerprint = config.fingerprint();
  std::vector<unsigned> order, others;
  std::vector<std::uint64_t> written;
  for (unsigned instance = 0; instance < kMaxInstances; ++instance) {
    const NodePaths paths = instance_paths(config, node_label, instance);
    written.push_back(written_ns(paths));
    const bool ours = fingerprint_of(paths) == fingerprint && is_held(paths);
    (ours ? order : others).push_back(instance);
  }
  std::stable_sort(others.begin(), others.end(), [&](unsigned a, unsigned b) { return written[a] > written[b]; });
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

}  // namespace

std::vector<NodePaths> held_by_others(const config::Config& config, const std::string& node_label) {
  const std::string fingerprint = config.fingerprint();
  std::vector<NodePaths> held;
  for (unsigned instance = 0; instance < kMaxInstances; ++instance) {
    NodePaths paths = instance_paths(config, node_label, instance);
    const auto lock = os::File::open(paths.node + "/engine.lock", os::Open::read_write);
    if (!lock) continue;
    const auto locked = lock->try_lock();
    if (locked || locked.error().code != PERDURE_BUSY || fingerprint_of(paths) == fingerprint) continue;
    held.push_back(std::move(paths));
  }
  return held;
}

namespace {

base::Result<std::variant<Claim, Existing>> claim_once(const config::Config& config, const std::string& node_label) {
  const std::string fingerprint = config.fingerprint();
  const auto order = instances_in_order(config, node_label);
  for (std::size_t next = 0, retries = 0; next < order.size();) {
    const NodePaths paths = instance_paths(config, node_label, order[next]);
    Claim claim;
    claim.node_label = node_label;
    PERDURE_CHECK(make_roots(config, paths));
    PERDURE_TRY(const Outcome outcome, try_instance(paths, config, claim));
    if (outcome == Outcome::claimed) return std::variant<Claim, Existing>(std::move(claim));
    if (outcome == Outcome::other_owner) {
      if (owner_serves(paths, fingerprint)) return std::variant<Claim, Existing>(Existing{paths});
      ++next;
    } else if (++retries > 1000) {
      return base::fail(PERDURE_BUSY, paths.node, "the directory keeps vanishing while it is being claimed");
    }
  }
  return base::fail(PERDURE_BUSY, config::node_root(config), "64 engines of other configurations live here already",
                    "end them or set node.path or job to something else");
}

}  // namespace

node::Reclaimed reclaim_room(const config::Config& config, const Claim& claim, std::function<bool()> stop) {
  const auto open = [&config](const std::string& location) {
    return store::make_store(location, config.below("store."));
  };
  return node::reclaim(config, {claim.paths.node, node::note_of(config, claim.node_label), open, std::move(stop)});
}

// Dead engines may have left no room even for a lock.
base::Result<std::variant<Claim, Existing>> claim(const config::Config& config, const std::string& node_label) {
  auto claimed = claim_once(config, node_label);
  if (claimed || claimed.error().code != PERDURE_NO_SPACE) return claimed;
  Claim nothing;
  nothing.node_label = node_label;
  const node::Reclaimed reclaimed = reclaim_room(config, nothing, [] { return false; });
  if (!reclaimed.given_up.empty()) claimed = claim_once(config, node_label);
  if (claimed || claimed.error().code != PERDURE_NO_SPACE) return claimed;
  base::Error error = claimed.error();
  if (const std::string lacking = reclaimed.lacking_text(); !lacking.empty()) error.cause += "; " + lacking;
  return base::fail(std::move(error));
}

namespace {

// Removes the temporary files of an owner that was killed while it wrote (os::write_file_atomically).
void remove_half_written(const std::string& directory) {
  const auto entries = os::list_directory(directory);
  if (!entries) return;
  for (const os::Entry& entry : *entries)
    if (!entry.directory && entry.name.find(".tmp-") != std::string::npos)
      (void)os::remove_file(directory + "/" + entry.name);
}

}  // namespace

// Once the lock's file is gone a successor may work here. By then only the directory is left to remove, and it stays if
// the successor uses it.
void remove_directories(const Claim& claim) {
  remove_half_written(claim.paths.node);
  for (const char* name : {"/catalog", "/catalog.new", "/socket", "/fingerprint", "/engine.log", "/engine.errors",
                           "/engine.conf", node::kJobNote})
    (void)os::remove_file(claim.paths.node + name);
  for (const auto& [tier, path] : claim.paths.tiers)
    if (path != claim.paths.node) (void)os::remove_directory(path);
  (void)os::remove_file(claim.paths.node + "/engine.lock");
  (void)os::remove_directory(claim.paths.node);
}

}  // namespace perdure::engine
