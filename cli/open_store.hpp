#pragma once
// Verbs find their store here.
#include <memory>
#include <string>

#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/checkpoints.hpp"
#include "store/store.hpp"

namespace perdure::cli {

/// Opens the store at `location`; when that is empty, the configured one (store.path). PERDURE_NOT_FOUND when it is not
/// there.
base::Result<std::unique_ptr<store::Store>> open_store(const std::string& location, const Terminal& terminal);

}  // namespace perdure::cli
