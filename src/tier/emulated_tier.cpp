#include "tier/emulated_tier.hpp"

#include <algorithm>
#include <map>

#include "base/bytes.hpp"

namespace perdure::tier {
namespace {

class EmulatedTier final : public Tier {
 public:
  EmulatedTier(std::unique_ptr<Tier> real, std::shared_ptr<device::Emulator> device, std::uint64_t capacity_bytes)
      : real_(std::move(real)), device_(std::move(device)), capacity_(capacity_bytes) {}

  const Properties& properties() const override { return real_->properties(); }
  std::uint64_t incarnation() const override { return real_->incarnation(); }
  bool has_free(std::uint64_t bytes) const override { return has_room(bytes) && real_->has_free(bytes); }
  bool can_hold(std::uint64_t bytes) override { return has_room(bytes) && real_->can_hold(bytes); }

  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t owner) override {
    if (!has_room(bytes))
      return base::fail(PERDURE_NO_SPACE, "emulated tier " + properties().name,
                        "no room for " + base::format_bytes(bytes) + " beside the " + base::format_bytes(used_) +
                            " in use of " + base::format_bytes(capacity_),
                        "raise its capacity in the file of emulate.description");
    PERDURE_TRY(const std::uint64_t slot, real_->acquire(bytes, owner));
    take(slot, bytes);
    return slot;
  }
  void written(std::uint64_t slot) override { real_->written(slot); }
  void release(std::uint64_t slot) override {
    real_->release(slot);
    if (const auto entry = held_.extract(slot)) used_ -= entry.mapped();
  }
  // Slots that an earlier engine left are kept even if the description has less room now.
  base::Status adopt(std::uint64_t slot, std::uint64_t bytes) override {
    PERDURE_CHECK(real_->adopt(slot, bytes));
    take(slot, bytes);
    return {};
  }
  SlotAddress address(std::uint64_t slot) const override { return real_->address(slot); }
  Usage usage() const override { return real_->usage(); }
  std::uint64_t capacity(std::uint64_t bytes) const override {
    const std::uint64_t real = real_->capacity(bytes);
    return capacity_ == 0 ? real : std::min(real, capacity_ / std::max<std::uint64_t>(bytes, 1));
  }

  std::vector<Reserved> reserve(const std::vector<std::uint64_t>& chunk_bytes, std::uint64_t owner) override {
    std::vector<std::uint64_t> fitting;
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : chunk_bytes) {
      sum += bytes;
      if (capacity_ != 0 && sum > capacity_) break;
      fitting.push_back(bytes);
    }
    return real_->reserve(fitting, owner);
  }
  void disown(std::uint64_t owner) override { real_->disown(owner); }
  base::Status remove_all() override {
    held_.clear();
    used_ = 0;
    return real_->remove_all();
  }
  device::Emulator* device() const override { return device_.get(); }

 private:
  bool has_room(std::uint64_t bytes) const {
    return capacity_ == 0 || (used_ <= capacity_ && bytes <= capacity_ - used_);
  }
  void take(std::uint64_t slot, std::uint64_t bytes) {
    held_[slot] = bytes;
    used_ += bytes;
  }

  std::unique_ptr<Tier> real_;
  std::shared_ptr<device::Emulator> device_;
  const std::uint64_t capacity_;
  std::map<std::uint64_t, std::uint64_t> held_;  // bytes of the chunk in each slot in use
  std::uint64_t used_ = 0;
};

}  // namespace

std::unique_ptr<Tier> emulate(std::unique_ptr<Tier> real, std::shared_ptr<device::Emulator> device,
                              std::uint64_t capacity_bytes) {
  return std::make_unique<EmulatedTier>(std::move(real), std::move(device), capacity_bytes);
}

}  // namespace perdure::tier
