#pragma once
// Who has a slot, besides the catalog, and when the tier gets it back: nobody else releases one.
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
  nobody,      ///< it is free, or what it holds is in the catalog
  rank,        ///< it was granted, and is being written
  written,     ///< its rank has written it, and not staged its piece yet
  redundancy,  ///< it was taken for what comes from other nodes, and is not in the catalog yet
  guest        ///< a client brought what it holds for a restore (engine/ledger/guests.hpp); it is never in the catalog
};

/// Whether a flush reads it.
enum class SlotReading {
  no,
  yes,
  yes_then_free  ///< whoever had it needs it no more: the flush is the last
};

struct SlotState {
  SlotHolder holder = SlotHolder::nobody;
  SlotReading reading = SlotReading::no;
  friend bool operator==(const SlotState&, const SlotState&) = default;
};

enum class SlotEvent {
  grant,    ///< to a rank
  write,    ///< the rank says that it has
  settle,   ///< what it holds is in the catalog, or was spilled: no rank has to do with it any more
  reserve,  ///< for redundancy
  keep,     ///< that is in the catalog
  host,     ///< for a guest, instead
  read_begins,
  read_ends,
  free  ///< nobody needs what it holds
};

struct SlotOutcome {
  SlotState state;
  bool release = false;  ///< the tier gets it back now
  friend bool operator==(const SlotOutcome&, const SlotOutcome&) = default;
};

/// Nothing when the event cannot happen in this state, which then stays as it is.
std::optional<SlotOutcome> next(SlotState state, SlotEvent event);

class Slots {
 public:
  /// What a rank was granted.
  struct Granted {
    ClientId client = 0;
    segment::VersionId id;
    std::uint64_t bytes = 0;
    device::StreamId stream = 0;  ///< of the tier's emulated device
    unsigned readers = 0;         ///< of the tier when the write began
    bool fresh = false;           ///< the write also has to get memory
  };

  /// `tiers` outlives it.
  explicit Slots(std::vector<std::unique_ptr<tier::Tier>>& tiers) : tiers_(tiers), readers_(tiers.size()) {}

  SlotState state(SlotKey slot) const;
  void grant(SlotKey slot, Granted granted);
  /// nullptr: no rank has it.
  const Granted* granted(SlotKey slot) const;
  /// Of one client, and of one version if it is given.
  std::vector<SlotKey> granted_to(ClientId client, const segment::VersionId* id) const;
  /// False when that cannot happen in the slot's state.
  bool happens(SlotKey slot, SlotEvent event);

  /// Flushes that read from this tier now. Both may be called without the ledger.
  unsigned readers(std::uint32_t tier) const { return readers_[tier]; }
  void count_reader(std::uint32_t tier, bool more) { readers_[tier] += more ? 1U : ~0U; }
  /// A slot of a tier with this property becomes free when a flush has read it.
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
  std::map<SlotKey, Entry> entries_;  // of all slots that somebody has
  std::vector<std::atomic<unsigned>> readers_;
};

}  // namespace perdure::engine
