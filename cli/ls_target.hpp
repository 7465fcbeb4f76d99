#pragma once
// Decides whether the one word of `perdure ls` is a name or a store. Pure.
#include <string>

#include "base/result.hpp"

namespace perdure::cli {

struct LsTarget {
  std::string store;  ///< empty: the configured one
  std::string name;   ///< empty: all
  friend bool operator==(const LsTarget&, const LsTarget&) = default;
};

/// Decides. A word is a store if it is an existing directory, a URL, or a path, which has a '/'; else it is a name.
/// With --store it is a name. PERDURE_INVALID_ARGUMENT: it can be neither.
base::Result<LsTarget> ls_target(const std::string& word, const std::string& option, bool is_directory);

}  // namespace perdure::cli
