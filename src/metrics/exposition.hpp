#pragma once
// Writes the Prometheus text exposition format, version 0.0.4. Pure.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/family.hpp"

namespace perdure::metrics {

/// The content type of an HTTP reply with such a text.
inline constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Checks names, labels, numbers and buckets against the format and Prometheus' conventions: counters end in `_total`,
/// no two samples have the same labels. Fails with PERDURE_INVALID_ARGUMENT, which names the violation.
base::Status check(const Family& family);

/// Writes families by name and samples by labels, whatever their order: the same data gives the same text. A family
/// without samples is left out. Fails with PERDURE_INVALID_ARGUMENT if one fails check(), or two have the same name.
base::Result<std::string> encode(std::vector<Family> families);

/// Adds `more` to `all`, each sample with `labels` before its own. Fails with PERDURE_MISMATCH, and adds nothing, if a
/// name is in both with another kind.
base::Status merge(std::vector<Family>& all, const std::vector<Family>& more, const Labels& labels);

}  // namespace perdure::metrics
