// Lists the tiers. A new one is a source file, and here its declaration and its row.
#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {

MakeTier make_memory_tier, make_file_tier;

namespace {

struct Entry {
  const char* kind;
  MakeTier* make;
  OpenSlot* open = open_file_slot;  ///< for slots whose address names this tier as their access
};
constexpr auto kTiers = std::to_array<Entry>({
    {"memory", make_memory_tier},
    {"file", make_file_tier},
});

std::string known_tiers() {
  std::string known;
  for (const Entry& entry : kTiers) known += (known.empty() ? "" : ", ") + std::string(entry.kind);
  return known;
}

const Entry* find_entry(const std::string& kind) {
  const auto* entry = std::find_if(kTiers.begin(), kTiers.end(), [&](const Entry& row) { return kind == row.kind; });
  return entry == kTiers.end() ? nullptr : entry;
}

}  // namespace

std::vector<std::string> tier_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kTiers) names.emplace_back(entry.kind);
  return names;
}

base::Result<std::unique_ptr<Tier>> make_tier(const std::string& kind, const TierOptions& options) {
  if (const Entry* entry = find_entry(kind)) {
    if (!options.existing) return entry->make(options);
    PERDURE_TRY(const bool there, os::exists(options.directory));
    if (there) return entry->make(options);
    return base::fail(PERDURE_NOT_FOUND, "tier " + kind + " in " + options.directory, "it is not there");
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, "tier.order", "there is no tier '" + kind + "'",
                    "known tiers: " + known_tiers());
}

base::Result<std::unique_ptr<SlotAccess>> open_slot(const SlotAddress& slot) {
  if (slot.access.empty()) return open_file_slot(slot);
  if (const Entry* entry = find_entry(slot.access)) return entry->open(slot);
  return base::fail(PERDURE_UNSUPPORTED, slot.path,
                    "the slot is of a tier '" + slot.access.substr(0, 100) + "', which this program does not know",
                    "use the library and the perdured of one release");
}

namespace {

// Slots leave this much of their file system to the catalog beside them, which records each slot that is given up.
constexpr std::uint64_t kFileSystemMargin = 1 * base::MiB;

}  // namespace

bool memory_allows(const SystemRoom& room, std::uint64_t bytes) {
  // This margin stays free for the application and the kernel: a twentieth of the machine, at most 1 GiB.
  const std::uint64_t margin = std::min<std::uint64_t>(room.total_memory_bytes / 20, base::GiB);
  return room.file_system_bytes >= kFileSystemMargin && room.file_system_bytes - kFileSystemMargin >= bytes &&
         room.memory_bytes >= bytes && room.memory_bytes - bytes >= margin;
}

// Slots of one checkpoint are requested one after the other. If a request is small, and leaves as much again, nobody
// else takes the rest within a second.
bool still_allows(const SystemRoom& room, std::uint64_t bytes, std::uint64_t age_ns) {
  constexpr std::uint64_t kFresh_ns = 20'000'000, kFreshForLittle_ns = 1'000'000'000, kLittle = 256;
  const bool is_little = bytes <= std::min(room.file_system_bytes, room.memory_bytes) / kLittle;
  return age_ns < (is_little ? kFreshForLittle_ns : kFresh_ns) && memory_allows(room, bytes);
}

}  // namespace perdure::tier
