#pragma once
// A tier is node-local storage that caches chunks. The engine owns tiers and hands out slots. The holder of a slot's
// address moves the bytes with SlotIo, by the access that the tier provides. Members are enrolled in
// tier/conformance_test.cpp.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "device/emulator.hpp"

namespace perdure::tier {

struct Properties {
  std::string name;       ///< as in tier.order: "memory", "file"
  std::string directory;  ///< the directory of its slots
  std::uint64_t max_bytes = 0;
  std::uint64_t slot_bytes = 0;  ///< capacity of a slot, if it does not grow
  bool mapped = false;           ///< slots are memory: written through a shared mapping
  bool leaving = false;          ///< it takes nothing new (tier/leaving_tier.hpp)
  bool grows = false;            ///< a slot grows to any chunk, as its limits allow
};

/// The address of a slot; plain data that is sent to clients.
struct SlotAddress {
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  std::string path;          ///< file that holds the slot
  std::uint64_t offset = 0;  ///< in that file
  std::uint64_t capacity = 0;
  bool mapped = false;
  bool fresh = false;  ///< its memory was not backed yet when it was acquired
  /// The tier whose own access moves the slot's bytes (its row in registry.cpp). Empty: as in the file at `path`,
  /// through a mapping if it is `mapped`.
  std::string access = {};
  friend bool operator==(const SlotAddress&, const SlotAddress&) = default;
};

struct Usage {
  std::uint64_t slots = 0, free_slots = 0;
  std::uint64_t bytes = 0;  ///< really backed by memory or disk
};

struct Reserved {
  std::uint64_t slot = 0;
  std::uint64_t bytes = 0;
};

/// The engine calls it under its lock. No call blocks for longer than a few system calls, except prepare().
class Tier {
 public:
  virtual ~Tier() = default;
  virtual const Properties& properties() const = 0;
  /// A random number that changes when the tier's content was lost. Slots recorded under another one are void.
  virtual std::uint64_t incarnation() const = 0;
  /// True if acquire() would succeed for a chunk of `bytes` now, without taking more from the system.
  virtual bool has_free(std::uint64_t bytes) const = 0;
  /// True if acquire() would succeed for a chunk of `bytes` now.
  virtual bool can_hold(std::uint64_t bytes) = 0;
  /// Returns a free slot for `bytes`, which is in use from now on. Fails with PERDURE_NO_SPACE if there is none and
  /// none can be made. Prefers slots that the same owner (a client; 0: none) had before, since its page tables know
  /// them.
  virtual base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t owner = 0) = 0;
  virtual void release(std::uint64_t slot) = 0;
  /// The acquired bytes of the slot have been written, so it is not fresh any more. A slot that is released unwritten
  /// is still fresh for its next owner.
  virtual void written(std::uint64_t /*slot*/) {}
  /// Marks a slot as in use, as the catalog has it (replay).
  virtual base::Status adopt(std::uint64_t slot, std::uint64_t bytes) = 0;
  virtual SlotAddress address(std::uint64_t slot) const = 0;
  virtual Usage usage() const = 0;
  /// Returns how many chunks of `bytes` its limits allow in all, whatever it holds now.
  virtual std::uint64_t capacity(std::uint64_t bytes) const = 0;
  /// Reserves room for chunks of these sizes, which `owner` may need at once, as far as the limits allow. Keeps it for
  /// this owner while others have room, too. Returns the owner's free slots with the bytes wanted of each, to be
  /// prepared ahead (SlotIo::prepare).
  virtual std::vector<Reserved> reserve(const std::vector<std::uint64_t>& chunk_bytes, std::uint64_t owner) = 0;
  /// Returns the emulated device that transfers have to wait for (tier/emulated_tier.hpp); nullptr if there is none.
  virtual device::Emulator* device() const { return nullptr; }
  /// The owner is gone, so its slots are free for any owner.
  virtual void disown(std::uint64_t owner) = 0;
  /// Deletes everything. Only when nothing is held any more.
  virtual base::Status remove_all() = 0;
};

struct TierOptions {
  std::uint32_t number = 0;  ///< position in tier.order
  std::string directory;
  std::uint64_t slot_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< 0: the tier's own default
  bool existing = false;        ///< opens only what an earlier engine left, else fails with PERDURE_NOT_FOUND
  /// Returns the bytes that all other engines of the user have on this node in this kind of tier. The tier's own
  /// default limit covers all of them. Empty: there are none.
  std::function<std::uint64_t()> others = {};
};
/// Returns the names of the tiers, in the registry's order.
std::vector<std::string> tier_names();
/// Makes the tier named `kind`. Fails with PERDURE_INVALID_ARGUMENT, which names the known kinds.
base::Result<std::unique_ptr<Tier>> make_tier(const std::string& kind, const TierOptions& options);

/// Moves the bytes of one slot, in any process that has its address: a rank's or an engine's. Used by one thread at a
/// time, except prepare(). Ranges are within the slot: SlotIo, through which all transfers go, checks that.
class SlotAccess {
 public:
  virtual ~SlotAccess() = default;
  /// Writes `data` at `offset` of the slot. `hasher` gets the same bytes.
  virtual base::Status write(std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher) = 0;
  /// Reads bytes [offset, offset + target.size()) of the slot. `hasher` gets the bytes read.
  virtual base::Status read(std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) = 0;
  /// Returns how many bytes can be read from the slot's beginning on: at least those that were written.
  virtual base::Result<std::uint64_t> size() = 0;
  /// Returns a direct view of the whole slot; empty if it is not memory.
  virtual base::ConstByteSpan view() const { return {}; }
  /// Returns the slot for writers: bytes put there are written. Empty if write() does anything else.
  virtual base::ByteSpan memory() { return {}; }
  /// Takes from the system now what writing the first `bytes` bytes will need. Fails with PERDURE_NO_SPACE if there is
  /// no room. `fresh`: earlier preparation is void. Any thread may call it.
  virtual base::Status prepare(std::uint64_t /*bytes*/, bool /*fresh*/) { return {}; }
  /// Prepares bytes [begin, end) of a slot that is not fresh, ahead of prepare().
  virtual base::Status prepare_part(std::uint64_t /*begin*/, std::uint64_t /*end*/) { return {}; }
  /// Prepares the first `bytes` bytes for readers only.
  virtual base::Status prepare_to_read(std::uint64_t /*bytes*/) { return {}; }
};

/// Opens a slot of any tier. Fails with PERDURE_UNSUPPORTED if this program does not know the tier.
base::Result<std::unique_ptr<SlotAccess>> open_slot(const SlotAddress& slot);
/// Opens a slot whose tier has no access of its own: a file, mapped or not.
base::Result<std::unique_ptr<SlotAccess>> open_file_slot(const SlotAddress& slot);

/// The functions that a tier's file implements, and that its row in registry.cpp names.
using MakeTier = base::Result<std::unique_ptr<Tier>>(const TierOptions&);
using OpenSlot = base::Result<std::unique_ptr<SlotAccess>>(const SlotAddress&);

/// The free space of the system, from which memory_allows() decides whether a tier may grow by `bytes` (pure).
struct SystemRoom {
  std::uint64_t file_system_bytes = 0;  ///< free on the file system
  std::uint64_t memory_bytes = 0;       ///< available memory; ignored for tiers that are not memory
  std::uint64_t total_memory_bytes = 0;
};
bool memory_allows(const SystemRoom& room, std::uint64_t bytes);
/// The same for an older look at the system, and `bytes` that were given since or are to be given. True if that is
/// certain enough without another look, which takes some 0.1 ms: a small checkpoint takes no longer.
bool still_allows(const SystemRoom& room, std::uint64_t bytes, std::uint64_t age_ns);

}  // namespace perdure::tier
