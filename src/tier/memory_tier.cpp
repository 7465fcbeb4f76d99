// The memory tier: one sparse shared-memory file (the arena) cut into slots. A slot's address range is as large as a
// chunk may be, its backing grows to what chunks really needed and is recycled with it, so that copies run at memory
// speed and not at page-fault speed.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

using base::MiB;

constexpr std::uint64_t kPage = 2 * MiB;  // backing grows by huge pages
constexpr std::uint64_t kFirstSlot = kPage;
constexpr char kMagic[8] = {'P', 'D', 'A', 'R', 'E', 'N', 'A', '1'};

struct ArenaHeader {
  char magic[8];
  std::uint64_t incarnation;
  std::uint64_t stride;  // distance of slots in bytes
};

struct MemorySlot {
  bool used = false;
  bool fresh = false;
  std::uint64_t owner = 0;
  std::uint64_t backed = 0;  // bytes from the slot's beginning that have, or were promised, memory
};

class MemoryTier final : public Tier {
 public:
  MemoryTier(const TierOptions& options, os::File file, const ArenaHeader& header)
      : number_(options.number), file_(std::move(file)), incarnation_(header.incarnation) {
    properties_ = {"memory", options.directory, options.max_bytes, header.stride, true};
    if (properties_.max_bytes == 0) properties_.max_bytes = os::total_memory_bytes() / 5;
  }

  const Properties& properties() const override { return properties_; }
  std::uint64_t incarnation() const override { return incarnation_; }

  // What an earlier engine left: slots beyond the header, with the backing that they already have.
  base::Status discover() {
    PERDURE_TRY(const std::uint64_t size, file_.size());
    for (std::uint64_t at = kFirstSlot; at + properties_.slot_bytes <= size; at += properties_.slot_bytes) {
      MemorySlot slot;
      const off_t data = ::lseek(file_.fd(), static_cast<off_t>(at), SEEK_DATA);
      if (data == static_cast<off_t>(at)) {
        const off_t hole = ::lseek(file_.fd(), static_cast<off_t>(at), SEEK_HOLE);
        const auto end = hole < 0 ? at : static_cast<std::uint64_t>(hole);
        slot.backed = std::min(end - at, properties_.slot_bytes) / kPage * kPage;
      }
      slots_.push_back(slot);
      backed_ += slot.backed;
    }
    return {};
  }

  bool has_free(std::uint64_t bytes) const override {
    return best_free(std::max(base::round_up(bytes, kPage), kPage)) != slots_.size();
  }

  bool can_hold(std::uint64_t bytes) override {
    if (bytes > properties_.slot_bytes) return false;
    const std::uint64_t need = std::max(base::round_up(bytes, kPage), kPage);
    if (best_free(need) != slots_.size()) return true;
    const std::uint64_t reclaim = free_backing();
    const std::uint64_t extra = need > reclaim ? need - reclaim : 0;
    return backed_ - reclaim + need <= properties_.max_bytes && system_has(extra);
  }

  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t owner) override {
    const std::uint64_t need = std::max(base::round_up(bytes, kPage), kPage);
    if (!can_hold(bytes))
      return base::fail(PERDURE_NO_SPACE, "tier memory",
                        "no room for " + base::format_bytes(bytes) + ": " + base::format_bytes(backed_) + " of " +
                            base::format_bytes(properties_.max_bytes) + " in use",
                        "raise tier.memory.max_bytes or give the next tier room");
    std::size_t slot = best_free(need, owner);
    if (slot == slots_.size()) {
      PERDURE_TRY(slot, grow(need));
    }
    slots_[slot].used = true;
    slots_[slot].owner = owner;
    return slot;
  }

  void release(std::uint64_t slot) override {
    if (slot < slots_.size()) slots_[slot].used = false;
  }
  void written(std::uint64_t slot) override {
    if (slot < slots_.size()) slots_[slot].fresh = false;
  }

  base::Status adopt(std::uint64_t slot, std::uint64_t bytes) override {
    if (slot >= slots_.size() || bytes > properties_.slot_bytes || slots_[slot].used)
      return base::fail(PERDURE_CORRUPT, "tier memory",
                        "the catalog names slot " + std::to_string(slot) + ", which cannot be in use");
    slots_[slot].used = true;
    return {};
  }

  SlotAddress address(std::uint64_t slot) const override {
    return {number_,
            slot,
            file_.path(),
            kFirstSlot + slot * properties_.slot_bytes,
            properties_.slot_bytes,
            true,
            slot < slots_.size() && slots_[slot].fresh};
  }

  Usage usage() const override {
    const auto free = static_cast<std::uint64_t>(
        std::count_if(slots_.begin(), slots_.end(), [](const MemorySlot& s) { return !s.used; }));
    return {slots_.size(), free, backed_};
  }

  std::uint64_t capacity(std::uint64_t bytes) const override {
    return bytes > properties_.slot_bytes ? 0 : properties_.max_bytes / std::max(base::round_up(bytes, kPage), kPage);
  }

  std::vector<Reserved> reserve(const std::vector<std::uint64_t>& chunk_bytes, std::uint64_t owner) override {
    std::vector<Reserved> ready;
    std::vector<bool> taken(slots_.size(), false);
    std::optional<SystemRoom> room;  // asked for once: it is in dozens of files of the system
    std::uint64_t promised = 0;      // of it
    for (std::uint64_t bytes : chunk_bytes) {
      const std::uint64_t need = std::max(base::round_up(bytes, kPage), kPage);
      std::size_t slot = find_reservable(need, owner, taken);
      if (slot == slots_.size()) {
        if (bytes > properties_.slot_bytes || backed_ + need > properties_.max_bytes) break;
        if (!room) room = system_room();
        promised += need;
        if (!room || !memory_allows(*room, promised) || !add_slot(need)) break;
        taken.push_back(false);
      }
      taken[slot] = true;
      slots_[slot].owner = owner;
      if (!slots_[slot].used) ready.push_back({slot, bytes});
    }
    return ready;
  }

  void disown(std::uint64_t owner) override {
    for (MemorySlot& slot : slots_)
      if (slot.owner == owner) slot.owner = 0;
  }

  base::Status remove_all() override { return os::remove_file(file_.path()); }

 private:
  // The free slot with the least backing that suffices, the owner's before nobody's before others'; slots_.size() when
  // there is none.
  std::size_t best_free(std::uint64_t need, std::uint64_t owner = 0) const {
    const auto rank = [owner](const MemorySlot& slot) { return slot.owner == owner ? 0 : slot.owner == 0 ? 1 : 2; };
    std::size_t best = slots_.size();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].used || slots_[i].backed < need) continue;
      const bool better = best == slots_.size() || rank(slots_[i]) < rank(slots_[best]) ||
                          (rank(slots_[i]) == rank(slots_[best]) && slots_[i].backed < slots_[best].backed);
      if (better) best = i;
    }
    return best;
  }

  // A slot of the owner, used or free, or a free one of nobody.
  std::size_t find_reservable(std::uint64_t need, std::uint64_t owner, const std::vector<bool>& taken) const {
    std::size_t found = slots_.size();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (taken[i] || slots_[i].backed < need) continue;
      if (slots_[i].owner == owner) return i;
      if (slots_[i].owner == 0 && !slots_[i].used && found == slots_.size()) found = i;
    }
    return found;
  }

  base::Status add_slot(std::uint64_t need) {
    PERDURE_CHECK(file_.truncate(kFirstSlot + (slots_.size() + 1) * properties_.slot_bytes));
    slots_.push_back({.used = false, .fresh = true, .owner = 0, .backed = need});
    backed_ += need;
    return {};
  }

  std::uint64_t free_backing() const {
    std::uint64_t bytes = 0;
    for (const MemorySlot& slot : slots_)
      if (!slot.used) bytes += slot.backed;
    return bytes;
  }

  std::optional<SystemRoom> system_room() const {
    const auto space = os::space(properties_.directory);
    if (!space) return std::nullopt;
    return SystemRoom{space->available_bytes, os::available_memory_bytes(), os::total_memory_bytes()};
  }

  bool system_has(std::uint64_t bytes) const {
    if (bytes == 0) return true;
    const auto room = system_room();
    return room && memory_allows(*room, bytes);
  }

  // Extends a free slot, or adds one, so that it has `need` bytes; takes backing from other free slots when the limit
  // asks for it.
  base::Result<std::size_t> grow(std::uint64_t need) {
    std::size_t slot = slots_.size();
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i].used && (slot == slots_.size() || slots_[i].backed > slots_[slot].backed)) slot = i;
    const std::uint64_t has = slot == slots_.size() ? 0 : slots_[slot].backed;
    for (std::size_t i = 0;
         i < slots_.size() && (backed_ - has + need > properties_.max_bytes || !system_has(need - has)); ++i) {
      if (slots_[i].used || i == slot || slots_[i].backed == 0) continue;
      PERDURE_CHECK(file_.punch(address(i).offset, properties_.slot_bytes));
      backed_ -= slots_[i].backed;
      slots_[i].backed = 0;
      slots_[i].fresh = true;
    }
    if (slot == slots_.size()) {
      PERDURE_CHECK(add_slot(need));
      return slot;
    }
    backed_ += need - slots_[slot].backed;
    slots_[slot].backed = need;
    slots_[slot].fresh = true;
    return slot;
  }

  std::uint32_t number_;
  os::File file_;
  std::uint64_t incarnation_;
  Properties properties_;
  std::vector<MemorySlot> slots_;
  std::uint64_t backed_ = 0;
};

bool is_good(const ArenaHeader& header) {
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.stride >= kPage &&
         header.stride % kPage == 0 && header.stride <= (1ULL << 40);
}

// What cannot be read now may be there all the same: an arena is begun anew only where there is none, or no whole one.
base::Result<ArenaHeader> read_or_make_header(const os::File& file, const TierOptions& options) {
  ArenaHeader header{};
  auto raw = std::as_writable_bytes(std::span(&header, 1));
  PERDURE_TRY(const std::uint64_t size, file.size());
  if (size >= kFirstSlot) {
    PERDURE_CHECK(file.read(0, raw));
    if (is_good(header)) return header;
  }
  if (options.existing) return base::fail(PERDURE_NOT_FOUND, file.path(), "it is no whole arena");
  PERDURE_CHECK(file.truncate(0));
  PERDURE_CHECK(file.truncate(kFirstSlot));
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.incarnation = os::random_u64();
  header.stride = std::max(base::round_up(options.slot_bytes, kPage), kPage);
  PERDURE_CHECK(file.write(0, raw));
  return header;
}

}  // namespace

base::Result<std::unique_ptr<Tier>> make_memory_tier(const TierOptions& options) {
  PERDURE_CHECK(os::make_private_directory(options.directory));
  const auto mode = options.existing ? os::Open::read_write : os::Open::create;
  PERDURE_TRY(auto file, os::File::open(options.directory + "/arena", mode));
  PERDURE_TRY(const auto header, read_or_make_header(file, options));
  auto tier = std::make_unique<MemoryTier>(options, std::move(file), header);
  PERDURE_CHECK(tier->discover());
  return std::unique_ptr<Tier>(std::move(tier));
}

}  // namespace perdure::tier
