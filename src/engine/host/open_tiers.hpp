#pragma once
// The tiers of a launch: those that its configuration names, and others where the catalog says that something is.
// (docs/adr/0024)
#include <memory>
#include <optional>
#include <vector>

#include "catalog/state.hpp"
#include "engine/host/emulation.hpp"
#include "engine/host/node_directory.hpp"
#include "engine/ledger/ledger.hpp"

namespace perdure::engine {

struct OpenTiers {
  std::vector<std::unique_ptr<tier::Tier>> tiers;  ///< in tier.order, then those that are only emptied
  std::vector<TierModel> models;                   ///< of each
};

/// The most that a chunk has.
std::uint64_t chunk_bytes(const config::Config& config);

/// A tier that cannot be opened is left out with a report: the next one serves. Without any there is no engine. `log`:
/// what the catalog says, before it is placed; what of it cannot be reached is reported.
base::Result<OpenTiers> open_tiers(const config::Config& config, const NodePaths& paths,
                                   const std::optional<Emulation>& emulation, const catalog::State& log,
                                   Reports& reports);

/// Deletes what the tiers have on this node; only when nothing is held any more.
void remove_tiers(Ledger& ledger);

}  // namespace perdure::engine
