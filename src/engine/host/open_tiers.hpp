#pragma once
// Opens the tiers of a launch: those that its configuration names, and others on which the catalog has data
// (docs/adr/0024).
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

/// Returns the largest size of a chunk.
std::uint64_t chunk_bytes(const config::Config& config);

/// A tier that cannot be opened is left out with a report, and the next one serves. Fails if no tier can be opened.
/// `log`: the catalog's content, before tiers are numbered; its unreachable parts are reported.
base::Result<OpenTiers> open_tiers(const config::Config& config, const NodePaths& paths,
                                   const std::optional<Emulation>& emulation, const catalog::State& log,
                                   Reports& reports);

/// Deletes the tiers' data on this node. Only when nothing is held any more.
void remove_tiers(Ledger& ledger);

}  // namespace perdure::engine
