#include <algorithm>

#include "config/nearest.hpp"
#include "engine/pipeline/step.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kOwnSteps = 3;  // the first entries of known_steps()

// Variables of other source files fill it before main(), so it must not depend on their order.
std::vector<StepRow>& added_steps() {
  static std::vector<StepRow> rows;
  return rows;
}

base::Result<StepRow> find_step(const std::vector<StepRow>& known, const std::string& name) {
  const auto has_name = [&name](const StepRow& row) { return row.name == name; };
  const auto row = std::find_if(known.begin(), known.end(), has_name);
  if (row == known.end()) {
    std::vector<std::string_view> names;
    for (const auto& other : known) names.push_back(other.name);
    return base::fail(PERDURE_INVALID_ARGUMENT, "pipeline",
                      "there is no step '" + name.substr(0, 200) + "'; the nearest is '" +
                          std::string(config::nearest(name, names)) + "'",
                      "name steps that are linked into the engine: see pipeline in docs/configuration.md");
  }
  if (std::find_if(row + 1, known.end(), has_name) != known.end())
    return base::fail(PERDURE_INVALID_ARGUMENT, "pipeline", "two steps are registered as " + name, "rename one");
  if (!row->make && row - known.begin() >= static_cast<std::ptrdiff_t>(kOwnSteps))
    return base::fail(PERDURE_INVALID_ARGUMENT, "pipeline",
                      "the step " + name + " is registered without a way to make it", "register it with one");
  if (row->make && row->gives)
    return base::fail(PERDURE_INVALID_ARGUMENT, "pipeline",
                      "the step " + name + " says that it gives a level, which only the engine's own do",
                      "register it without one");
  return *row;
}

}  // namespace

base::Result<std::unique_ptr<Step>> make_step(const StepRow& row, const StepContext& context) {
  try {
    return row.make(context);
  } catch (const std::exception& thrown) {
    return base::fail(PERDURE_INTERNAL, "step " + row.name, std::string("making it threw: ") + thrown.what());
  } catch (...) {
    return base::fail(PERDURE_INTERNAL, "step " + row.name, "making it threw something");
  }
}

StepRegistration::StepRegistration(StepRow row) { added_steps().push_back(std::move(row)); }

std::vector<StepRow> known_steps() {
  std::vector<StepRow> rows = {
      {"replicate", "keeps copies or parities on other nodes", Level::process, Level::node},
      {"flush", "copies chunks to the store", Level::process, Level::store},
      {"retire", "removes versions from the store that retention does not keep", Level::store},
  };
  rows.insert(rows.end(), added_steps().begin(), added_steps().end());
  return rows;
}

base::Result<std::vector<StepRow>> choose_steps(const std::vector<std::string>& names, bool redundancy) {
  const auto known = known_steps();
  std::vector<StepRow> chosen;
  std::vector<plan::PipelineStep> order;
  for (const auto& name : names) {
    PERDURE_TRY(auto row, find_step(known, name));
    order.push_back({row.name, row.needs, row.gives});
    chosen.push_back(std::move(row));
  }
  PERDURE_CHECK(plan::check_pipeline(order));
  if (redundancy && std::find(names.begin(), names.end(), "replicate") == names.end())
    return base::fail(PERDURE_INVALID_ARGUMENT, "pipeline",
                      "without the step replicate no version reaches level node, and redundancy.scheme asks for it",
                      "name replicate, or set redundancy.scheme = single");
  return chosen;
}

}  // namespace perdure::engine
