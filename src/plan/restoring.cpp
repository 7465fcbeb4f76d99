#include "plan/restoring.hpp"

#include "plan/backoff.hpp"

namespace perdure::plan {
namespace {

constexpr unsigned kMostLostEngines = 5;
constexpr unsigned kMostHindrances = 3;
constexpr unsigned kMostRepairs = 2;

}  // namespace

// Without evidence against a version, the restore takes no older one. It fails with the hindrance, and a later restore
// finds the version.
RestoreStep after_failed_restore(const FailedRestore& failed) {
  using After = RestoreStep;
  if (failed.wrong_use) return After::fail;
  if (failed.engine_gone) return failed.engines_lost < kMostLostEngines ? After::attach : After::fail;
  if (failed.hindered) {
    if (failed.hindrances < kMostHindrances) return After::again_after_pause;
    return failed.hindrances == kMostHindrances && failed.others_help ? After::without_slots : After::fail;
  }
  if ((failed.read_again || failed.others_help) && failed.repairs < kMostRepairs) return After::again;
  return failed.latest ? After::older : After::fail;
}

std::uint64_t pause_after_hindrance_ns(unsigned hindrances) {
  constexpr Backoff kPauses{200'000'000, 1'000'000'000, UINT64_MAX};
  return next_delay_ns(kPauses, hindrances, 0).value_or(0);
}

}  // namespace perdure::plan
