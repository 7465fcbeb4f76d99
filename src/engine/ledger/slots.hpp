#pragma once
// Tracks which holder has each slot, besides the catalog, and releases slots to their tier. No other code releases one.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "device/emulator.hpp"
#include "engine/ledger/write_times.hpp"
#include "segment/manifest.hpp"
#include "tier/tier.hpp"

namespace perdure::engine {

enum class SlotHolder {
  nobody,      ///< it is free, or its content is in the catalog
  rank,        ///< it was granted, and is being written
  written,     ///< its rank has written it, and not staged its piece yet
  redundancy,  ///< it was taken for data from other nodes, and is not in the catalog yet
  guest        ///< a client brought its content for a restore (engine/ledger/guests.hpp); it is never in the catalog
};

/// Whether a flush reads it.
enum class SlotReading {
  no,
  yes,
  yes_then_free  ///< its holder needs it no more: it is free after the flush
};

struct SlotState {
  SlotHolder holder = SlotHolder::nobody;
  SlotReading reading = SlotReading::no;
  friend bool operator==(const SlotState&, const SlotState&) = default;
};

enum class SlotEvent {
  grant,    ///< to a rank
  write,    ///< the rank reports that it has written it
  settle,   ///< its content is in the catalog, or was spilled: no rank uses it any more
  reserve,  ///< for redundancy
  keep,     ///< its redundancy is in the catalog
  host,     ///< for a guest, instead of keep
  read_begins,
  read_ends,
  free  ///< nobody needs its content
};

struct SlotOutcome {
  SlotState state;
  bool release = false;  ///< it is released to the tier now
  friend bool operator==(const SlotOutcome&, const SlotOutcome&) = default;
};

/// Returns the outcome of the event; nullopt if it cannot happen in this state, which then stays as it is.
std::optional<SlotOutcome> next(SlotState state, SlotEvent event);

class Slots {
 public:
  /// A slot granted to a rank.
  struct Granted {
    ClientId client = 0;
    segment::VersionId id;
    std::uint64_t bytes = 0;
    device::StreamId stream = 0;  ///< of the tier's emulated device
    unsigned readers = 0;         ///< of the tier when the write began
    bool fresh = false;           ///< the write also has to allocate memory
  };

  /// `tiers` outlives it.
  explicit Slots(std::vector<std::unique_ptr<tier::Tier>>& tiers) : tiers_(tiers), readers_(tiers.size()) {}

  SlotState state(SlotKey slot) const;
  void grant(SlotKey slot, Granted granted);
  /// nullptr: no rank has it.
  const Granted* granted(SlotKey slot) const;
  /// Returns the slots granted to one client; only of one version if it is given.
  std::vector<SlotKey> granted_to(ClientId client, const segment::VersionId* id) const;
  /// Applies the event. False if it cannot happen in the slot's state.
  bool happens(SlotKey slot, SlotEvent event);

  /// Number of flushes that read from this tier now. Both functions may be called without the ledger.
  unsigned readers(std::uint32_t tier) const { return readers_[tier]; }
  void count_reader(std::uint32_t tier, bool more) { readers_[tier] += more ? 1U : ~0U; }
  /// True if a slot of a tier with this property becomes free when a flush has read it.
  template <class Usable>
  bool any_free_after_read(Usable usable) const {
    for (const auto& [slot, entry] : entries_)
      if (entry.state.reading == SlotReading::yes_then_free && usable(slot.first)) return true;
    return false;
  }

 private:
  struct Entry {
    SlotState state;
    Granted granted;
  };
  std::vector<std::unique_ptr<tier::Tier>>& tiers_;
  std::map<SlotKey, Entry> entries_;  // all slots that have a holder
  std::vector<std::atomic<unsigned>> readers_;
};

}  // namespace perdure::engine
