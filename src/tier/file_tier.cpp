// The file tier keeps one preallocated file per slot in a node-local directory. Files are overwritten in place and
// never truncated (the DEEP-ER measurements show the cost of truncation and deletion, and other engines may map them).
// A file grows to any chunk: chunks of other launches can be larger than this launch's. Free slots give their room to
// others as holes.
#include <algorithm>
#include <charconv>

#include "base/bytes.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "tier/incarnation.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

constexpr std::uint64_t kBlock = 64 * base::KiB;           // room is taken in multiples of it
constexpr std::uint64_t kMostChunkBytes = 16 * base::GiB;  // the most that chunk_bytes permits
const std::string kPrefix = "slot-";

struct Slot {
  bool used = false;
  std::uint64_t backed = 0;
};

class FileTier final : public Tier {
 public:
  FileTier(const TierOptions& options, std::uint64_t incarnation) : number_(options.number), incarnation_(incarnation) {
    properties_ = {"file", options.directory, options.max_bytes, base::round_up(options.slot_bytes, kBlock)};
    properties_.grows = true;
  }

  const Properties& properties() const override { return properties_; }
  std::uint64_t incarnation() const override { return incarnation_; }

  base::Status discover() {
    PERDURE_TRY(const auto entries, os::list_directory(properties_.directory));
    for (const auto& entry : entries) {
      std::uint64_t number = 0;
      if (entry.directory || !entry.name.starts_with(kPrefix)) continue;
      const char* end = entry.name.data() + entry.name.size();
      auto [stop, error] = std::from_chars(entry.name.data() + kPrefix.size(), end, number);
      if (error != std::errc{} || stop != end || number > 1'000'000) continue;
      PERDURE_TRY(const auto file, os::File::open(path(number), os::Open::read));
      PERDURE_TRY(const std::uint64_t bytes, file.size());
      if (slots_.size() <= number) slots_.resize(number + 1);
      slots_[number].backed = bytes;
      backed_ += bytes;
    }
    return {};
  }

  bool has_free(std::uint64_t bytes) const override {
    const std::size_t slot = best_free();
    return slot != slots_.size() && slots_[slot].backed >= bytes;
  }

  bool can_hold(std::uint64_t bytes) override {
    if (bytes > kMostChunkBytes) return false;
    const std::size_t slot = best_free();
    const std::uint64_t has = slot == slots_.size() ? 0 : slots_[slot].backed;
    const std::uint64_t need = rounded(bytes);
    return need <= has || room_for(need - has, 0) || room_for(need - has, free_backing(slot));
  }

  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t) override {
    if (!can_hold(bytes))
      return base::fail(
          PERDURE_NO_SPACE, "tier file in " + properties_.directory,
          "no room for " + base::format_bytes(bytes) + " beside the " + base::format_bytes(backed_) + " in use",
          "free space there, or set tier.file.path or tier.file.max_bytes");
    const std::size_t slot = best_free();
    const std::uint64_t need = rounded(bytes);
    if (slot == slots_.size()) slots_.push_back({});
    if (slots_[slot].backed < need) {
      PERDURE_CHECK(reclaim(need - slots_[slot].backed, slot));
      PERDURE_TRY(const auto file, os::File::open(path(slot), os::Open::create));
      PERDURE_CHECK(file.preallocate(need));
      PERDURE_TRY(const std::uint64_t size, file.size());
      if (size < need) PERDURE_CHECK(file.truncate(need));  // the file system cannot preallocate
      backed_ += need - slots_[slot].backed;
      slots_[slot].backed = need;
    }
    PERDURE_CHECK(shrink(slot, std::max(need, properties_.slot_bytes)));
    slots_[slot].used = true;
    return slot;
  }

  void release(std::uint64_t slot) override {
    if (slot < slots_.size()) slots_[slot].used = false;
  }

  base::Status adopt(std::uint64_t slot, std::uint64_t bytes) override {
    if (slot >= slots_.size() || slots_[slot].used || bytes > slots_[slot].backed)
      return base::fail(PERDURE_CORRUPT, "tier file in " + properties_.directory,
                        "the catalog names slot " + std::to_string(slot) + ", which is not there or too small");
    slots_[slot].used = true;
    return {};
  }

  // A slot that was filled when chunks could be larger still has all of its chunk.
  SlotAddress address(std::uint64_t slot) const override {
    const std::uint64_t backed = slot < slots_.size() ? slots_[slot].backed : 0;
    return {number_, slot, path(slot), 0, std::max(properties_.slot_bytes, backed), false, false};
  }

  Usage usage() const override {
    const auto free =
        static_cast<std::uint64_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.used; }));
    return {slots_.size(), free, backed_};
  }

  std::uint64_t capacity(std::uint64_t bytes) const override {
    return bytes > kMostChunkBytes ? 0 : limit() / rounded(bytes);
  }

  // Slot files are made when they are needed. Creating them takes a few system calls, not a pass over memory.
  std::vector<Reserved> reserve(const std::vector<std::uint64_t>&, std::uint64_t) override { return {}; }
  void disown(std::uint64_t) override {}

  base::Status remove_all() override {
    for (std::uint64_t slot = 0; slot < slots_.size(); ++slot) PERDURE_CHECK(os::remove_file(path(slot)));
    PERDURE_CHECK(os::remove_file(properties_.directory + "/incarnation"));
    slots_.clear();
    backed_ = 0;
    return {};
  }

 private:
  std::string path(std::uint64_t slot) const { return properties_.directory + "/" + kPrefix + std::to_string(slot); }

  // Returns the free slot with the most room, which needs the least preallocation.
  std::size_t best_free() const {
    std::size_t best = slots_.size();
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i].used && (best == slots_.size() || slots_[i].backed > slots_[best].backed)) best = i;
    return best;
  }

  // The default is at most half of the space that the file system would have free without our slots.
  std::uint64_t limit() const {
    if (properties_.max_bytes != 0) return properties_.max_bytes;
    const auto room = os::space(properties_.directory);
    return room ? (room->available_bytes + backed_) / 2 : backed_;
  }

  static std::uint64_t rounded(std::uint64_t bytes) {
    return base::round_up(std::max<std::uint64_t>(bytes, 1), kBlock);
  }

  // `freed`: how much of the room in use is given back before.
  bool room_for(std::uint64_t bytes, std::uint64_t freed) const {
    const auto room = os::space(properties_.directory);
    return room && room->available_bytes + freed >= bytes && backed_ - freed + bytes <= limit();
  }

  // The room that free slots have, except `but`.
  std::uint64_t free_backing(std::size_t but) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i].used && i != but) sum += slots_[i].backed;
    return sum;
  }

  // Takes room from free slots, except `but`, until there are `bytes` more.
  base::Status reclaim(std::uint64_t bytes, std::size_t but) {
    for (std::size_t i = 0; i < slots_.size() && !room_for(bytes, 0); ++i)
      if (!slots_[i].used && i != but) PERDURE_CHECK(shrink(i, 0));
    return {};
  }

  base::Status shrink(std::size_t slot, std::uint64_t bytes) {
    if (slots_[slot].backed <= bytes) return {};
    PERDURE_TRY(const auto file, os::File::open(path(slot), os::Open::read_write));
    PERDURE_CHECK(file.punch(bytes, slots_[slot].backed - bytes));
    backed_ -= slots_[slot].backed - bytes;
    slots_[slot].backed = bytes;
    return {};
  }

  std::uint32_t number_;
  std::uint64_t incarnation_;
  Properties properties_;
  std::vector<Slot> slots_;
  std::uint64_t backed_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<Tier>> make_file_tier(const TierOptions& options) {
  PERDURE_CHECK(os::make_private_directory(options.directory));
  PERDURE_TRY(const std::uint64_t incarnation, read_or_make_incarnation(options.directory, options.existing));
  auto tier = std::make_unique<FileTier>(options, incarnation);
  PERDURE_CHECK(tier->discover());
  return std::unique_ptr<Tier>(std::move(tier));
}

}  // namespace perdure::tier
