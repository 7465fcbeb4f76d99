// Implements the tier that the acceptance test of the layout adds. It spreads every slot over two files, block by
// block, so that its bytes cannot be moved like those of one file.
#include <algorithm>
#include <array>
#include <charconv>

#include "os/file.hpp"
#include "os/system.hpp"
#include "tier/incarnation.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

constexpr std::uint64_t kStripe = 64 * base::KiB;
const std::string kSlotName = "striped-";

std::string half_of(const std::string& slot, unsigned half) { return slot + (half == 0 ? ".even" : ".odd"); }

class StripedSlot final : public SlotAccess {
 public:
  explicit StripedSlot(std::array<os::File, 2> halves) : halves_(std::move(halves)) {}

  base::Status write(std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher) override {
    for (std::uint64_t done = 0; done < data.size();) {
      const auto [half, at, bytes] = piece_at(offset + done, data.size() - done);
      PERDURE_CHECK(halves_[half].write(at, data.subspan(done, bytes)));
      hasher.update(data.subspan(done, bytes));
      done += bytes;
    }
    return {};
  }
  base::Status read(std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) override {
    for (std::uint64_t done = 0; done < target.size();) {
      const auto [half, at, bytes] = piece_at(offset + done, target.size() - done);
      PERDURE_CHECK(halves_[half].read(at, target.subspan(done, bytes)));
      hasher.update(target.subspan(done, bytes));
      done += bytes;
    }
    return {};
  }
  base::Result<std::uint64_t> size() override {
    PERDURE_TRY(const std::uint64_t even, halves_[0].size());
    PERDURE_TRY(const std::uint64_t odd, halves_[1].size());
    return even + odd;
  }

 private:
  struct Piece {
    unsigned half;
    std::uint64_t at;
    std::size_t bytes;
  };
  static Piece piece_at(std::uint64_t offset, std::uint64_t most) {
    const std::uint64_t stripe = offset / kStripe, within = offset % kStripe;
    return {static_cast<unsigned>(stripe % 2), stripe / 2 * kStripe + within,
            static_cast<std::size_t>(std::min(most, kStripe - within))};
  }
  std::array<os::File, 2> halves_;
};

/// All slots have the size of the largest chunk.
class StripedTier final : public Tier {
 public:
  StripedTier(const TierOptions& options, std::uint64_t incarnation)
      : number_(options.number), incarnation_(incarnation) {
    properties_ = {"striped", options.directory, options.max_bytes,
                   std::max(base::round_up(options.slot_bytes, 2 * kStripe), 2 * kStripe), false};
    if (const auto room = os::space(options.directory); properties_.max_bytes == 0 && room)
      properties_.max_bytes = room->available_bytes / 2;
  }

  base::Status discover() {
    PERDURE_TRY(const auto entries, os::list_directory(properties_.directory));
    for (const auto& entry : entries) {
      std::size_t number = 0;
      if (!entry.name.starts_with(kSlotName) || !entry.name.ends_with(".odd")) continue;
      std::from_chars(entry.name.data() + kSlotName.size(), entry.name.data() + entry.name.size(), number);
      if (used_.size() <= number) used_.resize(number + 1, false);
    }
    return {};
  }

  const Properties& properties() const override { return properties_; }
  std::uint64_t incarnation() const override { return incarnation_; }
  bool has_free(std::uint64_t bytes) const override { return bytes <= properties_.slot_bytes && free() < used_.size(); }
  bool can_hold(std::uint64_t bytes) override {
    return has_free(bytes) || (bytes <= properties_.slot_bytes && used_.size() < most());
  }
  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t) override {
    if (!can_hold(bytes))
      return base::fail(PERDURE_NO_SPACE, "tier striped", "no room for " + base::format_bytes(bytes),
                        "raise tier.striped.max_bytes");
    const std::size_t slot = free();
    if (slot == used_.size()) {
      for (unsigned half : {0U, 1U}) {
        PERDURE_TRY(const auto file, os::File::open(half_of(path(slot), half), os::Open::create));
        PERDURE_CHECK(file.truncate(properties_.slot_bytes / 2));
      }
      used_.push_back(false);
    }
    used_[slot] = true;
    return slot;
  }
  void release(std::uint64_t slot) override {
    if (slot < used_.size()) used_[slot] = false;
  }
  base::Status adopt(std::uint64_t slot, std::uint64_t bytes) override {
    if (slot >= used_.size() || used_[slot] || bytes > properties_.slot_bytes)
      return base::fail(PERDURE_CORRUPT, "tier striped", "the catalog names a slot that cannot be in use");
    used_[slot] = true;
    return {};
  }
  SlotAddress address(std::uint64_t slot) const override {
    return {number_, slot, path(slot), 0, properties_.slot_bytes, false, false, "striped"};
  }
  Usage usage() const override {
    return {used_.size(), static_cast<std::uint64_t>(std::count(used_.begin(), used_.end(), false)),
            used_.size() * properties_.slot_bytes};
  }
  std::uint64_t capacity(std::uint64_t bytes) const override { return bytes > properties_.slot_bytes ? 0 : most(); }
  std::vector<Reserved> reserve(const std::vector<std::uint64_t>&, std::uint64_t) override { return {}; }
  void disown(std::uint64_t) override {}
  base::Status remove_all() override {
    for (std::size_t slot = 0; slot < used_.size(); ++slot)
      for (unsigned half : {0U, 1U}) PERDURE_CHECK(os::remove_file(half_of(path(slot), half)));
    used_.clear();
    return os::remove_file(properties_.directory + "/incarnation");
  }

 private:
  std::string path(std::uint64_t slot) const { return properties_.directory + "/" + kSlotName + std::to_string(slot); }
  std::size_t free() const {
    return static_cast<std::size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
  }
  std::uint64_t most() const { return properties_.max_bytes / properties_.slot_bytes; }

  std::uint32_t number_;
  std::uint64_t incarnation_;
  Properties properties_;
  std::vector<bool> used_;
};

}  // namespace

base::Result<std::unique_ptr<Tier>> make_striped_tier(const TierOptions& options) {
  PERDURE_CHECK(os::make_private_directory(options.directory));
  PERDURE_TRY(const std::uint64_t incarnation, read_or_make_incarnation(options.directory, options.existing));
  auto tier = std::make_unique<StripedTier>(options, incarnation);
  PERDURE_CHECK(tier->discover());
  return std::unique_ptr<Tier>(std::move(tier));
}

base::Result<std::unique_ptr<SlotAccess>> open_striped_slot(const SlotAddress& slot) {
  std::array<os::File, 2> halves;
  for (unsigned half : {0U, 1U}) {
    PERDURE_TRY(halves[half], os::File::open(half_of(slot.path, half), os::Open::read_write));
  }
  return std::make_unique<StripedSlot>(std::move(halves));
}

}  // namespace perdure::tier
