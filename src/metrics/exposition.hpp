#pragma once
// The Prometheus text exposition format, version 0.0.4. Pure.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/family.hpp"

namespace perdure::metrics {

/// Of an HTTP reply with such a text.
inline constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Names, labels, numbers and buckets are as the format and Prometheus' conventions want them: counters end in
/// `_total`, no two samples have the same labels. PERDURE_INVALID_ARGUMENT names what is not.
base::Status check(const Family& family);

/// Families by name, samples by labels, whatever order they are given in: the same data gives the same text. A family
/// without samples is left out. PERDURE_INVALID_ARGUMENT when one fails check(), or two have the same name.
base::Result<std::string> encode(std::vector<Family> families);

/// Adds `more` to `all`, each sample with `labels` in front of its own. PERDURE_MISMATCH, and nothing is added, when a
/// name is in both with another kind.
base::Status merge(std::vector<Family>& all, const std::vector<Family>& more, const Labels& labels);

}  // namespace perdure::metrics
