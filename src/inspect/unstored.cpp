#include "inspect/unstored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/bytes.hpp"
#include "config/daemon_program.hpp"
#include "config/effective.hpp"
#include "inspect/node_versions.hpp"
#include "ipc/capture_messages.hpp"
#include "ipc/channel.hpp"
#include "ipc/inspection_messages.hpp"
#include "ipc/level_messages.hpp"
#include "os/daemon_environment.hpp"
#include "os/file.hpp"
#include "os/spawn.hpp"
#include "segment/version_ranges.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;
constexpr std::uint64_t kAnswer_ns = 5 * kSecond_ns;
constexpr std::uint64_t kSlice_ns = kSecond_ns / 2;  // a stop is noticed in between
constexpr double kPoll_s = 0.02, kForEver_s = 1e9;

/// The end of a wait, by time or by request.
class Limit {
 public:
  Limit(const FlushRequest& request, double seconds)
      : request_(request),
        until_ns_(seconds < kForEver_s ? request.now_ns() + static_cast<std::uint64_t>(seconds * 1e9)
                                       : ~std::uint64_t{0}) {}
  std::uint64_t left_ns() const {
    const std::uint64_t now_ns = request_.now_ns();
    return now_ns < until_ns_ ? until_ns_ - now_ns : 0;
  }
  /// False: it is over.
  bool pause(double seconds) const { return request_.pause(seconds) && left_ns() > 0; }

 private:
  const FlushRequest& request_;
  const std::uint64_t until_ns_;
};

bool lock_is_free(const std::string& directory) {
  const auto lock = os::File::open(directory + "/engine.lock", os::Open::read_write);
  return lock && lock->try_lock();
}

// Starts it with the configuration that the engine had, which lies beside its catalog. Otherwise uses ours, with the
// paths on this machine. It ends by itself should we die.
base::Status start_perdured(config::Config config, const JobsDirectory& place) {
  PERDURE_TRY(const std::string program, config::find_daemon(config));
  const std::string settings = place.path + "/engine.conf";
  if (!os::exists(settings).value_or(false)) {
    PERDURE_CHECK(config::make_paths_absolute(config));
    const std::string text = config.serialise();
    PERDURE_CHECK(os::write_file_atomically(settings, base::as_bytes(text)));
  }
  os::BackgroundProgram started;
  started.path = program;
  started.environment = os::daemon_environment(store::credentials_family(config.text("store.path")));
  started.errors = place.path + "/engine.errors";
  started.arguments = {"--settings", settings, "--node-label", place.node_label, "--idle-exit"};
  return os::spawn_daemon(started);
}

base::Result<ipc::Channel> connected_to(const std::string& directory) {
  PERDURE_TRY(auto channel, ipc::Channel::connect_at_once(directory + "/socket"));
  ipc::Hello tool;
  tool.client = false;
  PERDURE_CHECK(channel.call(tool, kAnswer_ns));
  return channel;
}

struct Found {
  std::optional<ipc::Channel> engine;  ///< empty: its directory is gone, as everything was stored
  bool ours = false;                   ///< it was started here
};

// An engine that was killed holds its lock until its memory is given back. If several died here, perdured takes the
// place of the last one. Its starter waits for its answer, however short the limit is: it has to be ended.
base::Result<Found> find_engine(const config::Config& config, const JobsDirectory& place, const FlushRequest& request,
                                const Limit& limit) {
  Found found;
  std::optional<Limit> answer;
  for (;;) {
    auto channel = connected_to(place.path);
    if (channel) found.engine.emplace(std::move(*channel));
    if (channel || !os::exists(place.path).value_or(false)) return found;
    if (!found.ours && lock_is_free(place.path)) {
      PERDURE_CHECK(start_perdured(config, place));
      found.ours = true;
      answer.emplace(request, config.real("engine.start_timeout"));
    }
    if (!(answer ? *answer : limit).pause(kPoll_s)) return base::fail(channel.error());
  }
}

base::Result<ipc::Drained> drain(ipc::Channel& engine, const config::Config& config, const FlushRequest& request,
                                 const Limit& limit) {
  PERDURE_TRY(auto drained, engine.call(ipc::Drain{1}));
  if (!drained.done && drained.remaining > 0)
    request.announce(
        fmt::format("the program left {} checkpoint{} ({}) on this node; waiting until {} has what is left",
                    drained.remaining, drained.remaining == 1 ? "" : "s", drained.which, config.text("store.path")));
  while (!drained.done && limit.pause(0)) {
    PERDURE_TRY(drained, engine.call(ipc::Drain{std::min(kSlice_ns, std::max<std::uint64_t>(1, limit.left_ns()))}));
  }
  return drained;
}

// A program that ended right after its checkpoint may not have had it committed. All pieces are here, so the next start
// would commit it, too.
void commit_what_is_whole(ipc::Channel& engine, const std::string& directory) {
  for (const NodeVersion& version : versions_not_stored(directory)) {
    if (version.uncommitted_ranks == 0) continue;
    std::vector<std::uint32_t> ranks(version.uncommitted_ranks);
    std::iota(ranks.begin(), ranks.end(), 0U);
    (void)engine.call(ipc::Commit{version.id, {{0, 1, std::move(ranks)}}}, kAnswer_ns);  // otherwise it counts as left
  }
}

// After a full flush the engine leaves nothing; otherwise the next start uses the rest.
void end_perdured(ipc::Channel& engine, const std::string& directory, bool all_stored, const FlushRequest& request) {
  const bool ends = engine.call(ipc::Shutdown{!all_stored}, kAnswer_ns).has_value();
  engine.close();
  if (!ends) return;
  const std::uint64_t begun_ns = request.now_ns();
  while (os::exists(directory).value_or(false) && !lock_is_free(directory) &&
         request.now_ns() - begun_ns < kAnswer_ns && request.pause(kPoll_s)) {
  }
}

base::Result<ipc::Drained> flush_one(const config::Config& config, const JobsDirectory& place,
                                     const FlushRequest& request, const Limit& limit) {
  PERDURE_TRY(auto found, find_engine(config, place, request, limit));
  if (!found.engine) return ipc::Drained{};
  if (found.ours) commit_what_is_whole(*found.engine, place.path);
  auto drained = drain(*found.engine, config, request, limit);
  if (found.ours) end_perdured(*found.engine, place.path, drained && drained->remaining == 0, request);
  return drained;
}

// Reads the catalog: nobody writes it any more, or its engine writes on.
std::optional<Unstored> left_in(const std::string& directory, const std::string& why) {
  const auto versions = versions_not_stored(directory);
  if (versions.empty()) return std::nullopt;
  Unstored left{directory, versions.size(), 0, "", why};
  std::vector<segment::VersionId> ids;
  for (const auto& version : versions) {
    left.bytes += version.bytes;
    ids.push_back(version.id);
  }
  left.which = segment::version_ranges(ids);
  return left;
}

}  // namespace

std::string Unstored::text() const {
  const std::string reason = why.empty() ? "" : ", because: " + why;
  return fmt::format("{} checkpoint{} ({}, {}) in {}{}", versions, versions == 1 ? "" : "s", which,
                     base::format_bytes(bytes), directory, reason);
}

std::vector<Unstored> flush_unstored(const config::Config& config, const FlushRequest& request) {
  std::vector<Unstored> all;
  const Limit limit(request, config.real("engine.drain_timeout"));
  for (const auto& place : directories_of_job(config)) {
    if (versions_not_stored(place.path).empty()) continue;
    const auto flushed = base::caught("engine", [&] { return flush_one(config, place, request, limit); });
    if (auto left = left_in(place.path, flushed ? flushed->why : flushed.error().text())) all.push_back(*left);
  }
  return all;
}

}  // namespace perdure::inspect
