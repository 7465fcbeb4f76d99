#pragma once
// Collects the counts of this machine's engines as one set of metrics.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "metrics/family.hpp"

namespace perdure::inspect {

struct EngineMetrics {
  std::vector<metrics::Family> families;  ///< metrics of all engines; can be encoded
  std::size_t engines = 0;                ///< engines that live
  std::vector<base::Error> silent;  ///< errors of engines that did not answer: only perdure_engine_up is in `families`
};

/// Asks every engine that lives in one of these node directories (node.path), all at once, for at most 2 seconds. A
/// directory that is not there has no engines. Errors: a directory cannot be read.
base::Result<EngineMetrics> collect_metrics(const std::vector<std::string>& node_roots);

}  // namespace perdure::inspect
