#include "cli/absent_verb.hpp"

#include <CLI/CLI.hpp>

namespace perdure::cli {

Action absent_verb(CLI::App& app) {
  app.allow_extras();
  return [name = app.get_name()](Terminal& terminal) {
    return report(terminal, {PERDURE_UNSUPPORTED, "perdure " + name, "this program was built for `perdure run` alone",
                             "make build makes build/release/bin/perdure, which has every verb", false});
  };
}

}  // namespace perdure::cli
