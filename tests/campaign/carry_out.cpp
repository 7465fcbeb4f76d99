#include "campaign/driver.hpp"

namespace perdure::campaign {
namespace {

/// Returns one line with the results of each act, from the rank that got furthest.
std::string line_of(const Launch& launch, const Told& told) {
  std::string line;
  for (std::size_t act = 0; act < launch.acts.size(); ++act) {
    const Answer* furthest = nullptr;
    for (const auto& rank : told.answers)
      if (rank[act].begun && (furthest == nullptr || rank[act].done)) furthest = &rank[act];
    if (furthest == nullptr) continue;
    line += (line.empty() ? "" : ", ") + std::string(name_of(launch.acts[act])) + " ";
    line += furthest->done ? perdure_status_name(static_cast<perdure_status>(furthest->status)) : "died";
    if (furthest->done && furthest->status == PERDURE_OK)
      line += " (version " + std::to_string(furthest->version) + ", state " + std::to_string(furthest->step) + ")";
  }
  return line.empty() ? "nothing" + (told.why_not_opened.empty() ? "" : ": " + told.why_not_opened) : line;
}

std::string line_of(const Destroyed& what) {
  std::string line;
  for (const int node : what.nodes) line += " node " + std::to_string(node);
  for (const auto& [node, step] : what.slots)
    line += " a bit of state " + std::to_string(step) + " on node " + std::to_string(node);
  for (const auto version : what.versions_in_store)
    line += " a bit of version " + std::to_string(version) + " in the store";
  if (what.store) line += " the store";
  return (line.empty() ? "" : "; destroyed:" + line) + (what.forgotten ? "; forgotten" : "");
}

}  // namespace

std::vector<Violation> carry_out(const Scenario& scenario, Driver& driver, std::string* tell) {
  Model model(scenario);
  for (std::size_t number = 0; number < scenario.launches.size(); ++number) {
    const Told told = driver.launch(scenario, number);
    auto violations = model.judge(number, told);
    const Destroyed what = violations.empty() ? driver.destroy(scenario, number) : Destroyed{};
    if (tell != nullptr)
      *tell +=
          "  " + std::to_string(number + 1) + ": " + line_of(scenario.launches[number], told) + line_of(what) + "\n";
    if (!violations.empty()) {
      if (tell != nullptr) *tell += "promised by then:\n" + model.text();
      return violations;
    }
    model.destroyed(number, what);
  }
  return {};
}

}  // namespace perdure::campaign
