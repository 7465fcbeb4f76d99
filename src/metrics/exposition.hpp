#pragma once
// Writes the Prometheus text exposition format, version 0.0.4. Pure.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/family.hpp"

namespace perdure::metrics {

/// The content type of an HTTP reply with such a text.
inline constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Checks names, labels, numbers and buckets against the format and Prometheus' conventions. Counters end in `_total`,
/// and no two samples have the same labels. PERDURE_INVALID_ARGUMENT names the offending one.
base::Status check(const Family& family);

/// Encodes families sorted by name, and samples sorted by labels: the same data gives the same text. It omits a family
/// without samples. PERDURE_INVALID_ARGUMENT: a family fails check(), or two have the same name.
base::Result<std::string> encode(std::vector<Family> families);

/// Adds `more` to `all`, each sample with `labels` in front of its own. PERDURE_MISMATCH: a name is in both with
/// another kind; nothing is added then.
base::Status merge(std::vector<Family>& all, const std::vector<Family>& more, const Labels& labels);

}  // namespace perdure::metrics
