#pragma once
// Measures how long it takes to list a store of many small versions, and to read the same files plainly.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"

namespace perdure::elastic_bench {

struct Listing {
  std::string store;
  std::uint64_t versions = 10'000;
  std::uint64_t repetitions = 5;  ///< after one that does not count
};

/// Makes the store: versions of one rank with a region of 64 bytes.
base::Result<nlohmann::json> make_versions(const Listing& settings);
/// Lists it by perdure_list_versions(), and opens, reads and closes all of its files, alternately.
base::Result<nlohmann::json> list_versions(const Listing& settings);

}  // namespace perdure::elastic_bench
