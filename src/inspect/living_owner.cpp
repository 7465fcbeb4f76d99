#include "inspect/living_owner.hpp"

#include "os/system.hpp"
#include "plan/lease.hpp"
#include "store/owner_watch.hpp"

namespace perdure::inspect {
namespace {

constexpr std::uint64_t kLook_ns = 50'000'000, kTold_after_ns = 1'000'000'000;

std::string waited_for(const std::optional<store::Owner>& owner, std::uint64_t lease_ns) {
  const std::string limit = std::to_string((lease_ns + 500'000'000) / 1'000'000'000) + " s";
  if (owner) return "was not closed by " + owner->text() + "; waiting for up to " + limit + " whether that lives";
  return "has a damaged record of who writes it; waiting for up to " + limit +
         " whether a program that lives writes it again";
}

}  // namespace

base::Result<std::optional<store::Owner>> living_owner(store::Store& store, const std::string& name,
                                                       std::uint64_t lease_ns,
                                                       const std::function<void(const std::string& why)>& waits) {
  store::OwnerWatch watch(os::process_space());
  const std::uint64_t begun_ns = os::monotonic_ns();
  for (bool told = false;; os::sleep_ns(kLook_ns)) {
    auto read = store.owner(name);
    const bool damaged = !read && read.error().code == PERDURE_CORRUPT;
    if (!read && !damaged) return base::fail(read.error());
    const std::optional<store::Owner> there = damaged ? std::nullopt : *read;
    if (!there && !damaged) return std::optional<store::Owner>();
    const auto seen = damaged ? watch.look_damaged() : watch.look(*there);
    const std::uint64_t limit_ns = damaged ? lease_ns : there->lease_ns;
    const auto verdict = plan::judge_lease({.owned = damaged || !there->ended,
                                            .same_machine = seen.same_machine,
                                            .process_lives = seen.process_lives,
                                            .renewed = seen.renewed,
                                            .watched_ns = seen.watched_ns,
                                            .lease_ns = limit_ns});
    if (verdict == plan::LeaseVerdict::take) return std::optional<store::Owner>();
    if (verdict == plan::LeaseVerdict::busy) return there;
    if (told || os::monotonic_ns() - begun_ns < kTold_after_ns) continue;
    waits(waited_for(there, limit_ns));
    told = true;
  }
}

}  // namespace perdure::inspect
