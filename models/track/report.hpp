#pragma once
// What was learnt of where a checkpoint is smallest, for people: `perdure track` shows it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "track/places.hpp"

namespace perdure::track {

struct Report {
  std::string name;               ///< of the checkpoints
  std::uint64_t state_bytes = 0;  ///< all data sets with their halos
  struct Loop {
    std::string name;
    std::uint64_t first = 0, times = 0;  ///< where it came first in the stretch, and how often its cost was known
    Cost least, most;
    bool possible = true;  ///< false: between a loop and its answer, or not one that the policy allows
    bool chosen = false;
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  std::vector<Loop> loops;  ///< in the order in which they came first
  /// What a checkpoint at the chosen loop has of each data set, and why not all.
  struct Set {
    std::string name;
    std::uint64_t bytes = 0, written_bytes = 0, saved_bytes = 0;
    std::string why;
    friend bool operator==(const Set&, const Set&) = default;
  };
  std::vector<Set> sets;
  /// What a checkpoint before each loop of one time step would have, in their order; nothing where that is not known.
  struct Step {
    std::string loop;
    std::optional<std::uint64_t> bytes;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> step;
  friend bool operator==(const Report&, const Report&) = default;
};

/// Of the sets' `saved` at the chosen place; `written` is what loops had written of them.
std::vector<Report::Set> explained(std::span<const DataSet> sets, std::span<const BoxSet> written,
                                   std::span<const BoxSet> saved);

std::string to_json(const Report& report);
/// Of text that may be anything. Error: what is wrong with it.
tl::expected<Report, std::string> parse_report(std::string_view json);

}  // namespace perdure::track
