#pragma once
// Chooses the version from which the second run of `perdure run --check-protection` goes on. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::inspect {

/// One complete version that a run left in its store.
struct Checkpoint {
  std::string name;
  std::uint64_t version = 0;
  std::uint64_t created_ns = 0;  ///< time when its attempt began
  std::string text() const;      ///< "nbody@7"
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// The parsed "VERSION" or "NAME@VERSION"; PERDURE_INVALID_ARGUMENT for anything else.
struct RestoreRequest {
  std::string name;  ///< empty: any
  std::uint64_t version = 0;
};
base::Result<RestoreRequest> parse_restore_request(const std::string& text);

/// Gives the moment from which the second run goes on: it finds every version created until then, and the later ones
/// are compared. Without a request, it is the earliest moment at which every name with two versions or more has one.
/// PERDURE_NOT_FOUND when there is no such moment, or no later version.
base::Result<std::uint64_t> restore_point(const std::vector<Checkpoint>& written,
                                          const std::optional<RestoreRequest>& request);

/// Writes "nbody@7, nbody@8"; the first ones if there are many.
std::string checkpoints_text(const std::vector<Checkpoint>& checkpoints);

}  // namespace perdure::inspect
