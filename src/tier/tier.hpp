#pragma once
// Node-local storage that caches chunks. The engine owns tiers and hands out slots; the holder of a slot's address
// moves the bytes with SlotIo, in the way that the tier gives. Members are enrolled in tier/conformance_test.cpp.
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
  std::string directory;  ///< where its slots are
  std::uint64_t max_bytes = 0;
  std::uint64_t slot_bytes = 0;  ///< capacity of a slot
  bool mapped = false;           ///< slots are memory: written through a shared mapping
  bool leaving = false;          ///< it takes nothing new (tier/leaving_tier.hpp)
};

/// Where a slot is; plain data that travels to clients.
struct SlotAddress {
  std::uint32_t tier = 0;
  std::uint64_t slot = 0;
  std::string path;          ///< file that holds the slot
  std::uint64_t offset = 0;  ///< in that file
  std::uint64_t capacity = 0;
  bool mapped = false;
  bool fresh = false;  ///< its memory was not backed yet when it was acquired
  /// The tier whose own way moves the slot's bytes (its row in registry.cpp); empty: as in the file at `path`, through
  /// a mapping if it is `mapped`.
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

/// Called by the engine under its lock; no call blocks for longer than a few system calls, except prepare().
class Tier {
 public:
  virtual ~Tier() = default;
  virtual const Properties& properties() const = 0;
  /// Random number that changes when the tier's content was lost; slots recorded under another one are void.
  virtual std::uint64_t incarnation() const = 0;
  /// True when acquire() would succeed for a chunk of `bytes` now, without taking more from the system.
  virtual bool has_free(std::uint64_t bytes) const = 0;
  /// True when acquire() would succeed for a chunk of `bytes` now.
  virtual bool can_hold(std::uint64_t bytes) = 0;
  /// A free slot for `bytes`, now in use. PERDURE_NO_SPACE when there is none and none can be made.
  /// Slots that the same owner (any number but 0: a client) had before are preferred: its page tables know them.
  virtual base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t owner = 0) = 0;
  virtual void release(std::uint64_t slot) = 0;
  /// The bytes of the slot that were acquired have been written: it is not fresh any more. One that is released
  /// unwritten still is, for its next owner.
  virtual void written(std::uint64_t /*slot*/) {}
  /// Marks a slot as in use, as the catalog says it is (replay).
  virtual base::Status adopt(std::uint64_t slot, std::uint64_t bytes) = 0;
  virtual SlotAddress address(std::uint64_t slot) const = 0;
  virtual Usage usage() const = 0;
  /// How many chunks of `bytes` its limits allow in all, whatever it holds now.
  virtual std::uint64_t capacity(std::uint64_t bytes) const = 0;
  /// The sizes of the chunks that `owner` may need at once: makes room for them, as far as the limits allow, and keeps
  /// it for this owner while others have room too. Returns its free slots with the bytes wanted of each, to be prepared
  /// ahead (SlotIo::prepare).
  virtual std::vector<Reserved> reserve(const std::vector<std::uint64_t>& chunk_bytes, std::uint64_t owner) = 0;
  /// The emulated device that transfers have to wait for (tier/emulated_tier.hpp); nullptr: there is none.
  virtual device::Emulator* device() const { return nullptr; }
  /// The owner is gone: its slots are free for any owner.
  virtual void disown(std::uint64_t owner) = 0;
  /// Deletes everything; only when nothing is held any more.
  virtual base::Status remove_all() = 0;
};

struct TierOptions {
  std::uint32_t number = 0;  ///< position in tier.order
  std::string directory;
  std::uint64_t slot_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< 0: the tier's own default
  bool existing = false;        ///< what an earlier engine left, or PERDURE_NOT_FOUND: nothing is made
  /// What all other engines of the user have on this node of the same kind, in bytes: the tier's own default is for all
  /// together. Empty: there are none.
  std::function<std::uint64_t()> others = {};
};
/// The names of the tiers there are, in the registry's order.
std::vector<std::string> tier_names();
/// The tier named `kind`; PERDURE_INVALID_ARGUMENT with the known kinds otherwise.
base::Result<std::unique_ptr<Tier>> make_tier(const std::string& kind, const TierOptions& options);

/// How the bytes of one slot are moved, in whichever process has its address: a rank's or an engine's. Used by one
/// thread at a time, but for prepare(). Ranges are within the slot: SlotIo, which all moving goes through, saw to it.
class SlotAccess {
 public:
  virtual ~SlotAccess() = default;
  /// Writes `data` at `offset` of the slot. `hasher` gets the same bytes.
  virtual base::Status write(std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher) = 0;
  /// Reads bytes [offset, offset + target.size()) of the slot. `hasher` gets what was read.
  virtual base::Status read(std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) = 0;
  /// How many bytes, from the slot's beginning, can be read: at least those that were written.
  virtual base::Result<std::uint64_t> size() = 0;
  /// Direct view of the whole slot; empty where it is not memory.
  virtual base::ConstByteSpan view() const { return {}; }
  /// The same for who writes: what is put there is written. Empty where write() does anything else.
  virtual base::ByteSpan memory() { return {}; }
  /// Takes from the system now what writing the first `bytes` bytes will need. PERDURE_NO_SPACE when there is no room.
  /// `fresh`: what was prepared before is gone. Any thread.
  virtual base::Status prepare(std::uint64_t /*bytes*/, bool /*fresh*/) { return {}; }
  /// The same ahead of that, bytes [begin, end) of a slot that is not fresh.
  virtual base::Status prepare_part(std::uint64_t /*begin*/, std::uint64_t /*end*/) { return {}; }
  /// The same for who reads only.
  virtual base::Status prepare_to_read(std::uint64_t /*bytes*/) { return {}; }
};

/// The access to a slot of any tier. PERDURE_UNSUPPORTED when this program does not know the tier.
base::Result<std::unique_ptr<SlotAccess>> open_slot(const SlotAddress& slot);
/// That of slots whose tier has no way of its own: files, mapped or not.
base::Result<std::unique_ptr<SlotAccess>> open_file_slot(const SlotAddress& slot);

/// What a file of a tier implements, and its row in registry.cpp names.
using MakeTier = base::Result<std::unique_ptr<Tier>>(const TierOptions&);
using OpenSlot = base::Result<std::unique_ptr<SlotAccess>>(const SlotAddress&);

/// Room that growing by `bytes` would leave: the decision "does the system have it" (pure).
struct SystemRoom {
  std::uint64_t file_system_bytes = 0;  ///< free on the file system
  std::uint64_t memory_bytes = 0;       ///< available memory; ignored for tiers that are not memory
  std::uint64_t total_memory_bytes = 0;
};
bool memory_allows(const SystemRoom& room, std::uint64_t bytes);
/// The same of what was seen so long ago, and `bytes` that were given since or are to be given: whether that is certain
/// enough without another look. A look is some 0.1 ms; a small checkpoint takes no longer.
bool still_allows(const SystemRoom& room, std::uint64_t bytes, std::uint64_t age_ns);

}  // namespace perdure::tier
