#include "tier/leaving_tier.hpp"

#include "base/bytes.hpp"

namespace perdure::tier {
namespace {

class LeavingTier final : public Tier {
 public:
  explicit LeavingTier(std::unique_ptr<Tier> tier) : tier_(std::move(tier)), properties_(tier_->properties()) {
    properties_.leaving = true;
  }

  const Properties& properties() const override { return properties_; }
  std::uint64_t incarnation() const override { return tier_->incarnation(); }
  bool has_free(std::uint64_t) const override { return false; }
  bool can_hold(std::uint64_t) override { return false; }
  base::Result<std::uint64_t> acquire(std::uint64_t bytes, std::uint64_t) override {
    return base::fail(PERDURE_NO_SPACE, "tier " + properties_.name + " in " + properties_.directory,
                      "no room for " + base::format_bytes(bytes) + ": this launch does not use it",
                      "name it in tier.order");
  }
  void release(std::uint64_t slot) override { tier_->release(slot); }
  void written(std::uint64_t slot) override { tier_->written(slot); }
  base::Status adopt(std::uint64_t slot, std::uint64_t bytes) override { return tier_->adopt(slot, bytes); }
  SlotAddress address(std::uint64_t slot) const override { return tier_->address(slot); }
  Usage usage() const override { return tier_->usage(); }
  std::uint64_t capacity(std::uint64_t) const override { return 0; }
  std::vector<Reserved> reserve(const std::vector<std::uint64_t>&, std::uint64_t) override { return {}; }
  void disown(std::uint64_t owner) override { tier_->disown(owner); }
  base::Status remove_all() override { return tier_->remove_all(); }

 private:
  std::unique_ptr<Tier> tier_;
  Properties properties_;
};

}  // namespace

std::unique_ptr<Tier> leave(std::unique_ptr<Tier> tier) { return std::make_unique<LeavingTier>(std::move(tier)); }

}  // namespace perdure::tier
