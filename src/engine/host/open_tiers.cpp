#include "engine/host/open_tiers.hpp"

#include <algorithm>
#include <set>

#include "config/directories.hpp"
#include "engine/ledger/opened_tier.hpp"
#include "node/directories.hpp"
#include "os/file.hpp"
#include "redundancy/registry.hpp"
#include "tier/leaving_tier.hpp"

namespace perdure::engine {
namespace {

using Ids = std::vector<segment::VersionId>;

// One thread makes a redundancy block, and a node needs a block for every position of its group to have work. So chunks
// are smaller with redundancy, unless their size was configured.
constexpr std::uint64_t kRedundantChunkBytes = 8 * base::MiB;

TierModel model_for(const config::Config& config, const std::string& name, const tier::TierOptions& options,
                    const std::optional<Emulation>& emulation, std::size_t position, Reports& reports) {
  if (emulation && position < emulation->tiers.size())
    return {emulation->model(position), {ModelSource::Kind::emulated, 0, config.text("emulate.description"), {}}};
  return stored_model(config::model_root(config), name, options.directory, reports);
}

// "app version 3, app version 4 and 7 more"
std::string enumerated(const Ids& ids) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + ids[i].text();
  return ids.size() <= kMost ? text : text + " and " + std::to_string(ids.size() - kMost) + " more";
}

// All engines of the user on this node share one limit of memory.
std::function<std::uint64_t()> others_of(const config::Config& config, const std::string& tier,
                                         const NodePaths& paths) {
  if (tier != "memory") return {};
  return [root = config::tier_root(config, tier), own = paths.node.substr(paths.node.rfind('/') + 1)] {
    return node::memory_of_others(root, own);
  };
}

// A version in the store is not lost.
Ids not_stored(const catalog::State& log, Ids ids) {
  std::erase_if(ids, [&log](const segment::VersionId& id) {
    const auto held = log.versions.find(id);
    return held != log.versions.end() && held->second.all_stored();
  });
  return ids;
}

std::string place_of(const catalog::TierRecord& tier) {
  return "tier " + tier.name + (tier.place.directory.empty() ? "" : " in " + tier.place.directory);
}

class TierOpener {
 public:
  TierOpener(const config::Config& config, const std::optional<Emulation>& emulation, Reports& reports)
      : config_(config), emulation_(emulation), reports_(reports) {}

  base::Status open_configured(const NodePaths& paths) {
    base::Error last{PERDURE_INVALID_ARGUMENT, "tier.order", "it names no tier", "name at least one", false};
    std::size_t position = 0;
    for (const std::string& name : config_.list("tier.order")) {
      const std::size_t at = position++;
      tier::TierOptions options = options_for(paths.tiers.at(name));
      options.max_bytes = config::tier_max_bytes(config_, name);
      options.others = others_of(config_, name, paths);
      directories_.insert(options.directory);
      auto tier = tier::make_tier(name, options);
      if (tier) {
        open_.models.push_back(model_for(config_, name, options, emulation_, at, reports_));
        open_.tiers.push_back(emulation_ ? emulation_->wrap(std::move(*tier), at) : std::move(*tier));
        continue;
      }
      if (tier.error().code == PERDURE_INVALID_ARGUMENT) return base::fail(tier.error());
      last = tier.error();
      reports_.add("tier " + name + " cannot be used: " + last.text());
    }
    return open_.tiers.empty() ? base::Status(base::fail(last)) : base::Status();
  }

  // Data that an earlier launch put elsewhere, under another tier.order, path or TMPDIR, is read from there, and
  // removed once nothing needs it. Unreachable data stays recorded.
  void open_others(const catalog::State& log) {
    std::vector<catalog::OpenedTier> opened;
    for (const auto& tier : open_.tiers) opened.push_back(opened_tier(*tier));
    const std::set<std::uint32_t> gone = catalog::number_tiers(log, opened, boot_number()).gone;
    for (const auto& [known, versions] : catalog::absent_tiers(log, opened)) {
      const Ids needed = not_stored(log, versions);
      if (gone.contains(known.tier) && !versions.empty()) {
        tell(!needed.empty(), place_of(known) + " is gone, and with it this node's part of " + enumerated(versions));
        continue;
      }
      auto tier = open_where_it_was(known);
      if (tier && versions.empty()) {
        if ((*tier)->remove_all()) (void)os::remove_directory(known.place.directory);
      } else if (tier) {
        tell(false, place_of(known) + " is not of this launch's configuration: what it holds of " +
                        enumerated(versions) + " is used from there, and nothing new is put there");
        open_.models.emplace_back();
        open_.tiers.push_back(tier::leave(std::move(*tier)));
      } else if (!versions.empty()) {
        tell(!needed.empty(), place_of(known) + " cannot be reached: " + tier.error().text() + ". It has parts of " +
                                  enumerated(needed.empty() ? versions : needed) +
                                  ", which cannot be restored from there in this launch. They are kept, and a launch "
                                  "that reaches it finds them again; to give them up: perdure forget NAME");
      }
    }
  }

  OpenTiers take() { return std::move(open_); }

 private:
  tier::TierOptions options_for(const std::string& directory) const {
    tier::TierOptions options;
    options.number = static_cast<std::uint32_t>(open_.tiers.size());
    options.directory = directory;
    options.slot_bytes = chunk_bytes(config_);
    return options;
  }

  base::Result<std::unique_ptr<tier::Tier>> open_where_it_was(const catalog::TierRecord& known) const {
    const std::string object = place_of(known);
    const std::string& directory = known.place.directory;
    if (directory.empty()) return base::fail(PERDURE_UNAVAILABLE, object, "it is not known where it was");
    if (directories_.contains(directory))
      return base::fail(PERDURE_UNAVAILABLE, object, "it could not be opened, or another is there now");
    tier::TierOptions options = options_for(directory);
    options.existing = true;
    PERDURE_TRY(auto tier, tier::make_tier(known.name, options));
    if (tier->incarnation() == known.incarnation) return tier;
    return base::fail(PERDURE_UNAVAILABLE, object, "another is there now");
  }

  void tell(bool matters, const std::string& text) { matters ? reports_.add(text) : reports_.note(text); }

  const config::Config& config_;
  const std::optional<Emulation>& emulation_;
  Reports& reports_;
  OpenTiers open_;
  std::set<std::string> directories_;  // of tiers in the configuration, whether they could be opened or not
};

}  // namespace

std::uint64_t chunk_bytes(const config::Config& config) {
  const std::uint64_t bytes = config.bytes("chunk_bytes");
  const bool chosen = config.value("chunk_bytes").origin != config::Origin::default_value;
  return chosen || !redundancy::keeps_redundancy(config.text("redundancy.scheme"))
             ? bytes
             : std::min(bytes, kRedundantChunkBytes);
}

base::Result<OpenTiers> open_tiers(const config::Config& config, const NodePaths& paths,
                                   const std::optional<Emulation>& emulation, const catalog::State& log,
                                   Reports& reports) {
  TierOpener opener(config, emulation, reports);
  PERDURE_CHECK(opener.open_configured(paths));
  opener.open_others(log);
  return opener.take();
}

void remove_tiers(Ledger& state) {
  const auto ledger = state.lock();
  for (auto& tier : ledger->tiers()) {
    const tier::Properties& properties = tier->properties();
    if (tier->remove_all() && properties.leaving) (void)os::remove_directory(properties.directory);
  }
}

}  // namespace perdure::engine
