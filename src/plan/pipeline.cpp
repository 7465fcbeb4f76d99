#include "plan/pipeline.hpp"

#include <algorithm>

namespace perdure::plan {
namespace {

base::Status refuse_pipeline(const std::string& cause, const std::string& remedy) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "pipeline", cause, remedy);
}

}  // namespace

const char* level_name(Level level) {
  switch (level) {
    case Level::process:
      return "process";
    case Level::node:
      return "node";
    case Level::store:
      return "store";
  }
  return "unknown";
}

base::Status check_pipeline(const std::vector<PipelineStep>& steps) {
  const auto gives_store = [](const PipelineStep& step) { return step.gives == Level::store; };
  if (std::none_of(steps.begin(), steps.end(), gives_store))
    return refuse_pipeline("no step brings versions to the store", "name the step flush");
  Level reached = Level::process;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    const auto same = [step](const PipelineStep& other) { return other.name == step->name; };
    if (std::any_of(steps.begin(), step, same))
      return refuse_pipeline("it names the step " + step->name + " twice", "name each step once");
    if (step->needs > reached) {
      const auto giver = std::find_if(
          step, steps.end(), [step](const PipelineStep& other) { return other.gives && *other.gives >= step->needs; });
      return refuse_pipeline(
          "the step " + step->name + " needs level " + level_name(step->needs) + ", which no step before it gives",
          giver == steps.end() || giver == step ? "leave it out, or name a step that gives the level"
                                                : "put it after " + giver->name);
    }
    if (step->gives) reached = std::max(reached, *step->gives);
  }
  return {};
}

bool comes_before(const std::vector<std::string>& steps, const std::string& first, const std::string& second) {
  const auto at = std::find(steps.begin(), steps.end(), first);
  return at != steps.end() && std::find(at, steps.end(), second) != steps.end() && first != second;
}

}  // namespace perdure::plan
