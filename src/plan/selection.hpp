#pragma once
// Which version a restore takes. Pure.
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace perdure::plan {

/// A version as the decision sees it: number and attempt (two numbers that order in time). Newer is what was begun
/// later, not the higher number: a program that goes back to an older version and on from there begins a new branch.
struct Candidate {
  std::uint64_t version = 0;
  std::uint64_t attempt_time = 0;
  std::uint64_t attempt_nonce = 0;
  friend bool operator==(const Candidate&, const Candidate&) = default;
  friend auto operator<=>(const Candidate& a, const Candidate& b) {
    return std::tie(a.attempt_time, a.attempt_nonce, a.version) <=>
           std::tie(b.attempt_time, b.attempt_nonce, b.version);
  }
};

/// The time of a new attempt at a version: the clock's, or later than every known attempt of the name, because a clock
/// may go back and a later attempt must count as newer. (docs/adr/0002)
std::uint64_t attempt_time(std::uint64_t clock_ns, std::uint64_t newest_known_ns);

/// The newest candidate that is in every rank's set (architecture, promise 2), or nothing.
std::optional<Candidate> newest_common(const std::vector<std::vector<Candidate>>& per_rank);

}  // namespace perdure::plan
