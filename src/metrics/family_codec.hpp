#pragma once
// Encodes families as a message from an engine to its clients.
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "metrics/family.hpp"

namespace perdure::metrics {

base::Json to_json(const std::vector<Family>& families);
base::Json to_json(const Labels& labels);
/// Fails with PERDURE_CORRUPT about `object` if a part is missing, has another type, or fails check(): results can be
/// encoded. `json` is a list of at most 1000 families with 100 000 samples in all.
base::Result<std::vector<Family>> families_from_json(const base::Json& json, const std::string& object);
base::Result<Labels> labels_from_json(const base::Json& json, const std::string& object);

}  // namespace perdure::metrics
