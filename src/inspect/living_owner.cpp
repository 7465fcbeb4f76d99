#include "inspect/living_owner.hpp"

#include "os/system.hpp"
#include "plan/lease.hpp"
#include "store/owner_watch.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint64_t kLook_ns = 50'000'000, kTold_after_ns = 1'000'000'000;

}  // namespace

base::Result<std::optional<store::Owner>> living_owner(store::Store& store, const std::string& name,
                                                       const std::function<void(const store::Owner&)>& waits) {
  store::OwnerWatch watch(os::process_space());
  const std::uint64_t begun_ns = os::monotonic_ns();
  for (bool told = false;; os::sleep_ns(kLook_ns)) {
    PERDURE_TRY(const auto there, store.owner(name));
    if (!there) return std::optional<store::Owner>();
    const auto seen = watch.look(*there);
    const auto verdict = plan::judge_lease({.owned = !there->ended,
                                            .same_machine = seen.same_machine,
                                            .process_lives = seen.process_lives,
                                            .renewed = seen.renewed,
                                            .watched_ns = seen.watched_ns,
                                            .lease_ns = there->lease_ns});
    if (verdict == plan::LeaseVerdict::take) return std::optional<store::Owner>();
    if (verdict == plan::LeaseVerdict::busy) return there;
    if (told || os::monotonic_ns() - begun_ns < kTold_after_ns) continue;
    waits(*there);
    told = true;
  }
}

}  // namespace perdure::inspect
