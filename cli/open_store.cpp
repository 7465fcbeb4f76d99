#include "cli/open_store.hpp"

#include "cli/configuration.hpp"
#include "inspect/store_people.hpp"

namespace perdure::cli {

base::Result<std::unique_ptr<store::Store>> open_store(const std::string& location, const Terminal& terminal) {
  PERDURE_TRY(const auto config, configuration(terminal));
  PERDURE_TRY(auto store, store::make_store(location.empty() ? config.text("store.path") : location,
                                            config.below("store."), store::Whose::anybodys));
  PERDURE_CHECK(store->names());  // says so when there is no store
  for (const std::string& line : inspect::told_of_people(*store)) print(terminal.err, "perdure: " + line + "\n");
  return store;
}

}  // namespace perdure::cli
