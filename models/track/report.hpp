#pragma once
// Reports where a checkpoint is smallest and why, for `perdure track`.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "track/places.hpp"

namespace perdure::track {

struct Report {
  std::string name;               ///< the checkpoints' name
  std::uint64_t state_bytes = 0;  ///< all data sets with their halos
  struct Loop {
    std::string name;
    std::uint64_t first = 0, times = 0;  ///< first occurrence in the stretch, and how often its cost was known
    Cost least, most;
    bool possible = true;  ///< false: between a loop and its answer, or excluded by the policy
    bool chosen = false;
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  std::vector<Loop> loops;  ///< in the order of their first occurrences
  /// Says what a checkpoint at the chosen loop saves of each data set, and why not all of it.
  struct Set {
    std::string name;
    std::uint64_t bytes = 0, written_bytes = 0, saved_bytes = 0;
    std::string why;
    friend bool operator==(const Set&, const Set&) = default;
  };
  std::vector<Set> sets;
  /// The size of a checkpoint before each loop of one time step, in order; empty if unknown.
  struct Step {
    std::string loop;
    std::optional<std::uint64_t> bytes;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> step;
  friend bool operator==(const Report&, const Report&) = default;
};

/// Explains the sets' `saved` boxes at the chosen place; `written` are the boxes that loops had written.
std::vector<Report::Set> explained(std::span<const DataSet> sets, std::span<const BoxSet> written,
                                   std::span<const BoxSet> saved);

std::string to_json(const Report& report);
/// Parses untrusted text. Error: why it is malformed.
tl::expected<Report, std::string> parse_report(std::string_view json);

}  // namespace perdure::track
