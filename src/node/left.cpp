#include "node/left.hpp"

#include <algorithm>

#include "catalog/catalog.hpp"
#include "config/directories.hpp"
#include "os/file.hpp"

namespace perdure::node {
namespace {

constexpr std::uint64_t kMostCatalog = 1 * base::GiB;
constexpr std::uint64_t kCatalogMagic = 8;

base::Result<std::vector<std::byte>> read_catalog(const std::string& directory) {
  auto log = os::read_file(directory + "/catalog", kMostCatalog);
  if (!log && log.error().code == PERDURE_NOT_FOUND) return std::vector<std::byte>();
  return log;
}

// Another configuration may have put its tiers elsewhere. Directories without this engine's name are never touched.
void add_recorded_tiers(EngineDirectory& directory, const catalog::State& state) {
  const std::string engine = directory.path.substr(directory.path.rfind('/'));
  for (const auto& [number, tier] : state.tiers)
    if (tier.incarnation != 0 && tier.place.directory.ends_with(engine + config::tier_suffix(tier.name)))
      add_part(directory, tier.place.directory);
}

// A damaged record may have been about anything. A record that a death cut short was never acknowledged.
std::optional<base::Error> damage_of(const catalog::ReplayReport& report, std::size_t bytes,
                                     const std::string& object) {
  if (!report.damage.empty()) return report.damage.front();
  if (report.records == 0 && bytes > kCatalogMagic)
    return base::Error{PERDURE_CORRUPT, object, "no record of it can be read", "", false};
  return std::nullopt;
}

}  // namespace

bool Left::holds(const std::string& name) const {
  return std::any_of(holdings.begin(), holdings.end(), [&](const Holding& one) { return one.id.name == name; });
}

bool Left::needs_store() const {
  return damage || std::any_of(holdings.begin(), holdings.end(), [](const Holding& one) { return one.needs_store(); });
}

Left look_at(EngineDirectory directory) {
  Left left;
  left.directory = std::move(directory);
  const std::string& path = left.directory.path;
  if (auto job = read_job_note(path)) left.job = std::move(*job);
  const auto log = read_catalog(path);
  if (!log) {
    left.damage = log.error();
    return left;
  }
  left.catalog = base::hash128(*log);
  catalog::ReplayReport report;
  std::uint64_t good_end = 0;
  const catalog::State state = catalog::replay_bytes(*log, path + "/catalog", report, good_end);
  left.holdings = holdings_of(state);
  add_recorded_tiers(left.directory, state);
  left.damage = damage_of(report, log->size(), path + "/catalog");
  return left;
}

base::Result<base::Hash128> hash_of_catalog(const std::string& directory) {
  PERDURE_TRY(const auto log, read_catalog(directory));
  return base::hash128(log);
}

Judgement judge(const Left& left, const Facts& facts) {
  Judgement judgement;
  if (left.damage) judgement.unknown = left.damage->text();
  for (const Holding& holding : left.holdings) {
    if (!holding.needs_store()) continue;
    const auto known = facts.find(holding.id.name);
    if (known != facts.end() && known->second && makes_up_for(*known->second, holding)) continue;
    judgement.lacking.push_back(holding);
    if (!judgement.unknown.empty() || (known != facts.end() && known->second)) continue;
    judgement.unknown = known != facts.end() ? known->second.error().text() : "its store is not known";
  }
  return judgement;
}

std::string whose(const Left& left) {
  return left.job ? left.job->text() : "a job that is not known (an older Perdure left no note of it)";
}

std::string enumerated(const std::vector<Holding>& holdings) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(holdings.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + holdings[i].text();
  return holdings.size() <= kMost ? text : text + " and " + std::to_string(holdings.size() - kMost) + " more";
}

std::string lacking_text(const Left& left, const Judgement& judgement) {
  std::string text = whose(left) + ": " + (judgement.lacking.empty() ? "what it holds" : enumerated(judgement.lacking));
  return judgement.unknown.empty() ? text
                                   : text + " (whether the store has that is not known: " + judgement.unknown + ")";
}

}  // namespace perdure::node
