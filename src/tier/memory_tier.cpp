// The memory tier cuts sparse shared-memory files (the arena) into slots. A slot's address range is as large as the
// largest chunk. Its backing grows to the size that chunks needed, and is recycled with the slot. So copies run at
// memory speed and not at page-fault speed. Consecutive slots are in several files, because the kernel lets one thread
// at a time write to a file.
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
constexpr char kMagic[8] = {'P', 'D', 'A', 'R', 'E', 'N', 'A', '2'};
constexpr char kMagicOfOneFile[8] = {'P', 'D', 'A', 'R', 'E', 'N', 'A', '1'};  // its header ends before `parts`
constexpr std::uint64_t kParts = 4;                                            // of a new arena
constexpr std::uint64_t kSeenLately_ns = 1'000'000'000;

struct ArenaHeader {
  char magic[8];
  std::uint64_t incarnation;
  std::uint64_t stride;  // distance of slots in bytes
  std::uint64_t parts;   // files
};

struct MemorySlot {
  bool used = false;
  bool fresh = false;
  std::uint64_t owner = 0;
  std::uint64_t backed = 0;  // bytes from the slot's beginning that have memory, or were promised it
};

/// The files of an arena: the first one has its header, and slots are dealt to the files in turn.
class ArenaFiles {
 public:
  ArenaFiles(std::vector<os::File> files, std::uint64_t stride) : files_(std::move(files)), stride_(stride) {}

  const os::File& of(std::uint64_t slot) const { return files_[slot % files_.size()]; }
  std::uint64_t offset_of(std::uint64_t slot) const { return kFirstSlot + slot / files_.size() * stride_; }
  /// Returns the number of slots for which every file is long enough, since one file may have been lost.
  base::Result<std::uint64_t> complete() const {
    std::uint64_t slots = 0;
    for (std::size_t part = 0; part < files_.size(); ++part) {
      PERDURE_TRY(const std::uint64_t size, files_[part].size());
      const std::uint64_t its = size < kFirstSlot ? 0 : (size - kFirstSlot) / stride_;
      if (its > 0) slots = std::max<std::uint64_t>(slots, (its - 1) * files_.size() + part + 1);
    }
    for (std::uint64_t slot = slots; slot > 0 && slot + files_.size() > slots; --slot) PERDURE_CHECK(have(slot - 1));
    return slots;
  }
  /// Makes the slot's file reach to the slot's end.
  base::Status have(std::uint64_t slot) const {
    PERDURE_TRY(const std::uint64_t size, of(slot).size());
    const std::uint64_t end = offset_of(slot) + stride_;
    return size >= end ? base::Status() : of(slot).truncate(end);
  }
  /// Removes the file with the header last: without it nobody would look for the others.
  base::Status remove() const {
    base::Status outcome;
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
      const auto removed = os::remove_file(file->path());
      if (outcome) outcome = removed;
    }
    return outcome;
  }

 private:
  std::vector<os::File> files_;
  std::uint64_t stride_;
};

class MemoryTier final : public Tier {
 public:
  MemoryTier(const TierOptions& options, ArenaFiles files, const ArenaHeader& header)
      : number_(options.number), files_(std::move(files)), incarnation_(header.incarnation) {
    properties_ = {"memory", options.directory, options.max_bytes, header.stride, true};
    if (properties_.max_bytes != 0) return;
    properties_.max_bytes = os::total_memory_bytes() / 5;
    others_ = options.others;
  }

  const Properties& properties() const override { return properties_; }
  std::uint64_t incarnation() const override { return incarnation_; }

  // Takes up slots that an earlier engine left after the header, with the backing that they have.
  base::Status discover() {
    PERDURE_TRY(const std::uint64_t slots, files_.complete());
    for (std::uint64_t number = 0; number < slots; ++number) {
      MemorySlot slot;
      const int file = files_.of(number).fd();
      const std::uint64_t at = files_.offset_of(number);
      const off_t data = ::lseek(file, static_cast<off_t>(at), SEEK_DATA);
      if (data == static_cast<off_t>(at)) {
        const off_t hole = ::lseek(file, static_cast<off_t>(at), SEEK_HOLE);
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
    return within_limit(backed_ - reclaim + need) && system_has(extra);
  }

  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t owner) override {
    const std::uint64_t need = std::max(base::round_up(bytes, kPage), kPage);
    if (!can_hold(bytes))
      return base::fail(PERDURE_NO_SPACE, "tier memory",
                        "no room for " + base::format_bytes(bytes) + ": " + base::format_bytes(backed_) + " of " +
                            base::format_bytes(limit()) + " in use" + share_text(),
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
            files_.of(slot).path(),
            files_.offset_of(slot),
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
    return bytes > properties_.slot_bytes ? 0 : limit() / std::max(base::round_up(bytes, kPage), kPage);
  }

  std::vector<Reserved> reserve(const std::vector<std::uint64_t>& chunk_bytes, std::uint64_t owner) override {
    std::vector<Reserved> ready;
    std::vector<bool> taken(slots_.size(), false);
    std::optional<SystemRoom> room;  // asked for once, since that reads dozens of system files
    std::uint64_t promised = 0;      // of it
    for (std::uint64_t bytes : chunk_bytes) {
      const std::uint64_t need = std::max(base::round_up(bytes, kPage), kPage);
      std::size_t slot = find_reservable(need, owner, taken);
      if (slot == slots_.size()) {
        if (bytes > properties_.slot_bytes || !within_limit(backed_ + need)) break;
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

  base::Status remove_all() override { return files_.remove(); }

 private:
  // Returns the free slot with the least sufficient backing: the owner's before nobody's, and those before others'.
  // Returns slots_.size() if there is none.
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

  // Returns a slot of the owner, used or free, or a free one without an owner.
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
    PERDURE_CHECK(files_.have(slots_.size()));
    back(slots_.emplace_back(), need);
    return {};
  }

  std::uint64_t free_backing() const {
    std::uint64_t bytes = 0;
    for (const MemorySlot& slot : slots_)
      if (!slot.used) bytes += slot.backed;
    return bytes;
  }

  // Finding the memory of other engines takes dozens of files. A slightly old value is good enough to allow a request,
  // and to report usage.
  std::uint64_t others_bytes(std::uint64_t most_age_ns) const {
    if (!others_) return 0;
    const std::uint64_t now = os::monotonic_ns();
    if (!others_seen_ns_ || now - *others_seen_ns_ > most_age_ns) {
      others_bytes_ = others_();
      others_seen_ns_ = now;
    }
    return others_bytes_;
  }
  std::uint64_t limit(std::uint64_t most_age_ns = kSeenLately_ns) const {
    return properties_.max_bytes - std::min(properties_.max_bytes, others_bytes(most_age_ns));
  }
  bool within_limit(std::uint64_t bytes) const { return bytes <= limit() || (others_ && bytes <= limit(0)); }
  std::string share_text() const {
    if (others_bytes_ == 0) return {};
    return ", as other engines on this node have " + base::format_bytes(others_bytes_) + " of the " +
           base::format_bytes(properties_.max_bytes) + " for all";
  }

  std::optional<SystemRoom> system_room() const {
    const auto space = os::space(properties_.directory);
    if (!space) return std::nullopt;
    return SystemRoom{space->available_bytes, os::available_memory_bytes(), os::total_memory_bytes()};
  }

  // A slightly old value, less the bytes given since, is good enough to allow a request. The slots of one checkpoint
  // are requested one after the other, and the system's answer takes dozens of files.
  bool system_has(std::uint64_t bytes) {
    if (bytes == 0) return true;
    const std::uint64_t now = os::monotonic_ns();
    if (room_ && still_allows(*room_, given_ + bytes, now - seen_ns_)) return true;
    room_ = system_room();
    seen_ns_ = now;
    given_ = 0;
    return room_ && memory_allows(*room_, bytes);
  }

  void back(MemorySlot& slot, std::uint64_t bytes) {
    backed_ += bytes - slot.backed;
    given_ += bytes - slot.backed;
    slot.backed = bytes;
    slot.fresh = true;
  }

  // Extends a free slot to `need` bytes, or adds one. Takes backing from other free slots if the limit requires it.
  base::Result<std::size_t> grow(std::uint64_t need) {
    std::size_t slot = slots_.size();
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i].used && (slot == slots_.size() || slots_[i].backed > slots_[slot].backed)) slot = i;
    const std::uint64_t has = slot == slots_.size() ? 0 : slots_[slot].backed;
    for (std::size_t i = 0; i < slots_.size() && (!within_limit(backed_ - has + need) || !system_has(need - has));
         ++i) {
      if (slots_[i].used || i == slot || slots_[i].backed == 0) continue;
      PERDURE_CHECK(files_.of(i).punch(files_.offset_of(i), properties_.slot_bytes));
      backed_ -= slots_[i].backed;
      slots_[i].backed = 0;
      slots_[i].fresh = true;
    }
    if (slot == slots_.size()) {
      PERDURE_CHECK(add_slot(need));
      return slot;
    }
    back(slots_[slot], need);
    return slot;
  }

  std::uint32_t number_;
  ArenaFiles files_;
  std::uint64_t incarnation_;
  Properties properties_;
  std::vector<MemorySlot> slots_;
  std::uint64_t backed_ = 0;
  std::optional<SystemRoom> room_;  // as it was at seen_ns_
  std::uint64_t seen_ns_ = 0;
  std::uint64_t given_ = 0;                // bytes of it given since
  std::function<std::uint64_t()> others_;  // empty: the limit is this tier's alone
  mutable std::uint64_t others_bytes_ = 0;
  mutable std::optional<std::uint64_t> others_seen_ns_;
};

bool is_good(const ArenaHeader& header) {
  return std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.stride >= kPage &&
         header.stride % kPage == 0 && header.stride <= (1ULL << 40) && header.parts >= 1 && header.parts <= 64;
}

ArenaHeader of_any_age(ArenaHeader header) {
  if (std::memcmp(header.magic, kMagicOfOneFile, sizeof kMagicOfOneFile) != 0) return header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.parts = 1;
  return header;
}

std::string path_of_part(const std::string& directory, std::uint64_t part) {
  return directory + "/arena" + (part == 0 ? "" : "-" + std::to_string(part));
}

// An unreadable arena may be intact all the same. So a new one is begun only if there is none, or no whole one. Its
// other files are empty before it has a header.
base::Result<ArenaHeader> read_or_make_header(const os::File& file, const TierOptions& options) {
  ArenaHeader header{};
  auto raw = std::as_writable_bytes(std::span(&header, 1));
  PERDURE_TRY(const std::uint64_t size, file.size());
  if (size >= kFirstSlot) {
    PERDURE_CHECK(file.read(0, raw));
    header = of_any_age(header);
    if (is_good(header)) return header;
    header = {};
  }
  if (options.existing) return base::fail(PERDURE_NOT_FOUND, file.path(), "it is no whole arena");
  PERDURE_CHECK(file.truncate(0));
  for (std::uint64_t part = 1; part < kParts; ++part) {
    PERDURE_TRY(const auto other, os::File::open(path_of_part(options.directory, part), os::Open::create));
    PERDURE_CHECK(other.truncate(0));
  }
  PERDURE_CHECK(file.truncate(kFirstSlot));
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.incarnation = os::random_u64();
  header.stride = std::max(base::round_up(options.slot_bytes, kPage), kPage);
  header.parts = kParts;
  PERDURE_CHECK(file.write(0, raw));
  return header;
}

}  // namespace

base::Result<std::unique_ptr<Tier>> make_memory_tier(const TierOptions& options) {
  PERDURE_CHECK(os::make_private_directory(options.directory));
  const auto mode = options.existing ? os::Open::read_write : os::Open::create;
  std::vector<os::File> files;
  PERDURE_TRY(auto first, os::File::open(path_of_part(options.directory, 0), mode));
  files.push_back(std::move(first));
  PERDURE_TRY(const auto header, read_or_make_header(files[0], options));
  // A lost file is made again. Its slots hold zeros, which match no chunk's hash, and the other slots are as before.
  for (std::uint64_t part = 1; part < header.parts; ++part) {
    PERDURE_TRY(auto other, os::File::open(path_of_part(options.directory, part), os::Open::create));
    files.push_back(std::move(other));
  }
  auto tier = std::make_unique<MemoryTier>(options, ArenaFiles(std::move(files), header.stride), header);
  PERDURE_CHECK(tier->discover());
  return std::unique_ptr<Tier>(std::move(tier));
}

}  // namespace perdure::tier
