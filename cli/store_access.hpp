#pragma once
// How verbs find a store, and how people name checkpoints on the command line.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/verb.hpp"
#include "store/store.hpp"

namespace perdure::cli {

/// The store at `location`; when that is empty, the configured one (store.path). PERDURE_NOT_FOUND when it is not
/// there.
base::Result<std::unique_ptr<store::Store>> open_store(const std::string& location, const Terminal& terminal);

/// NAME or NAME@VERSION.
struct CheckpointSpec {
  std::string name;
  std::optional<std::uint64_t> version;
};
base::Result<CheckpointSpec> parse_checkpoint(const std::string& text);

/// PERDURE_NOT_FOUND for a store without a checkpoint: it is empty, or no store at all.
base::Error no_checkpoint(const store::Store& store);
/// PERDURE_NOT_FOUND for what `spec` names: what there is instead.
base::Error no_such_checkpoint(store::Store& store, const CheckpointSpec& spec);

/// Nanoseconds since 1970 as local time, "2026-11-21 05:09:53"; empty for 0.
std::string local_time(std::uint64_t ns);

/// Numbers as ranges: {0,1,2,5} -> "0-2,5".
std::string ranges_text(const std::vector<std::uint32_t>& ascending);

}  // namespace perdure::cli
