#pragma once
// The parts of a node's state share these tables: catalog, tiers, one record per version and per slot, and
// observations. Only the parts change them.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "catalog/catalog.hpp"
#include "engine/ledger/counters.hpp"
#include "engine/ledger/expected_chunks.hpp"
#include "engine/ledger/flush_meter.hpp"
#include "engine/ledger/interference.hpp"
#include "engine/ledger/open_capture.hpp"
#include "engine/ledger/reports.hpp"
#include "engine/ledger/slots.hpp"
#include "engine/ledger/tier_models.hpp"
#include "engine/ledger/versions.hpp"
#include "engine/ledger/write_times.hpp"
#include "os/system.hpp"
#include "placement/registry.hpp"
#include "plan/retention.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

/// Options for how the node places chunks.
struct NodeStateOptions {
  /// Models to predict with. A tier without one gets an assumption. Observations refine all of them.
  std::vector<TierModel> models = {};
  const placement::Policy* policy = nullptr;  ///< nullptr: the first tier with room
  unsigned flush_threads = 2;
  std::uint64_t chunk_bytes =
      0;  ///< chunks smaller than half of this and than 2 MiB say nothing about a tier's throughput
  /// `never` for a store that is not resumable.
  DuringCapture during_capture = DuringCapture::never;
  std::function<double()> clock = os::monotonic_s;  ///< in seconds
  /// This job's retention in the store. A version that it would remove at once need not be stored. nullopt: every
  /// version is stored.
  std::optional<plan::RetentionPolicy> retention = {};
};

/// The owner of slots with redundancy for other nodes. No client has this id.
inline constexpr ClientId kRedundancyOwner = ~0ULL - 2;

struct TierHealth {
  bool failed = false;    ///< its last operation failed; the next commit resets this, to give the tier another chance
  bool reported = false;  ///< until a capture uses it again
};

/// Knowledge gained from writes and flushes.
struct Observations {
  Observations(std::size_t tiers, double now_s);
  std::vector<placement::DeviceModel> models;  ///< by tier
  std::vector<std::uint64_t> at_last_commit;   ///< observations of each model up to the last commit
  Interference interference;
  ExpectedChunks expected;
  WriteTimes writes;
};

struct NodeTables {
  NodeTables(catalog::Catalog catalog, std::vector<std::unique_ptr<tier::Tier>> tiers, Reports& reports,
             NodeStateOptions options);
  NodeTables(const NodeTables&) = delete;
  NodeTables& operator=(const NodeTables&) = delete;

  catalog::Catalog catalog;
  std::vector<std::unique_ptr<tier::Tier>> tiers;
  std::uint32_t usable_tiers;  ///< the first so many take chunks; the others only keep their content
  Reports& reports;
  NodeStateOptions options;
  Versions versions;
  Slots slots;
  std::vector<TierHealth> tier_health;
  Observations observed;
  FlushMeter flush_meter;
  Counters counters;
  bool store_failing = false;
  std::uint64_t lost_versions = 0;  ///< dropped for lack of room while the store fails

  double now_s() const { return options.clock(); }
  /// Returns the catalog's entry of the version; nullptr if nothing of it is held here.
  const catalog::HeldVersion* held(const segment::VersionId& id) const;
  const catalog::RedundancySet* redundancy_set(const catalog::RedundancyId& id) const;
  /// Returns its record; nullptr if nothing of it is held here.
  const Version* held_version(const segment::VersionId& id) const;
  tier::SlotAddress address(const segment::ChunkEntry& chunk) const {
    return tiers[chunk.place]->address(chunk.offset);
  }
  /// The slot no longer belongs to this version.
  void release_slot(const segment::VersionId& id, SlotKey slot);
  /// Avoids a tier that failed until the next checkpoint. Reports it once, until a capture used it again.
  void tier_failed(std::uint32_t tier, const std::string& why);
};

}  // namespace perdure::engine
