#include "network/callers.hpp"

#include <algorithm>

namespace perdure::network {
namespace {

// Lies between the provider's own connection request (some 50 bytes) and that request with a hello (some 300).
constexpr std::uint64_t kHasSpoken_bytes = 160;
constexpr std::uint64_t kDeadline_ns = 5'000'000'000;
constexpr std::uint64_t kMostStrangers = 1024;

int trust(const Caller& caller) { return caller.has_spoken() ? 2 : caller.heard_bytes > 0 ? 1 : 0; }

}  // namespace

bool Caller::has_spoken() const { return heard_bytes >= kHasSpoken_bytes; }

std::size_t places_for_strangers(const Descriptors& descriptors, std::size_t callers, std::size_t known) {
  const std::uint64_t strangers = callers > known ? callers - known : 0;
  const std::uint64_t needed = descriptors.open > strangers ? descriptors.open - strangers : 0;
  const std::uint64_t left = descriptors.limit > needed ? descriptors.limit - needed : 0;
  return static_cast<std::size_t>(std::min({(left + 1) / 2, descriptors.limit / 8, kMostStrangers}));
}

std::vector<std::size_t> callers_to_close(const std::vector<Caller>& callers, std::size_t known, std::size_t places) {
  std::vector<std::size_t> by_suspicion(callers.size());
  for (std::size_t i = 0; i < callers.size(); ++i) by_suspicion[i] = i;
  std::sort(by_suspicion.begin(), by_suspicion.end(), [&](std::size_t a, std::size_t b) {
    const Caller &one = callers[a], &other = callers[b];
    return trust(one) != trust(other) ? trust(one) < trust(other) : one.silent_ns > other.silent_ns;
  });
  // Closes down to half of the places, so that a returning crowd is not examined one by one.
  const std::size_t too_many = callers.size() > known + places ? callers.size() - known - places / 2 : 0;
  std::vector<std::size_t> close;
  for (std::size_t i = 0; i < by_suspicion.size(); ++i) {
    const Caller& caller = callers[by_suspicion[i]];
    const bool late = !caller.has_spoken() && caller.silent_ns >= kDeadline_ns;
    if (late || i < too_many) close.push_back(by_suspicion[i]);
  }
  return close;
}

}  // namespace perdure::network
