#include "goals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/cbor.hpp"
#include "base/json.hpp"

namespace perdure::studies {
namespace {

std::string value_text(double value) { return std::isnan(value) ? "no figure" : fmt::format("{:.3f}", value); }

struct Worst {
  double ratio = 0;
  std::string where;
};

Worst worst_cell(const Medians& medians, const std::string& policy, const std::string& reference,
                 const Figure& figure) {
  Worst worst;
  for (const Cell& cell : medians.cells()) {
    if (!medians.has(cell, policy) || !medians.has(cell, reference)) continue;
    const double ratio = medians.ratio(cell, policy, reference, figure);
    if (ratio > worst.ratio) worst = {ratio, cell.text()};
  }
  return worst;
}

}  // namespace

Goal at_least(std::string what, double wanted, double value) {
  return {Goal::Kind::asked, std::move(what), ">=", wanted, value};
}
Goal at_most(std::string what, double wanted, double value) {
  return {Goal::Kind::asked, std::move(what), "<=", wanted, value};
}
Goal claim(std::string text, double paper, double value) {
  return {Goal::Kind::claimed, std::move(text), "", paper, value};
}

std::vector<Goal> adaptive_goals(const std::vector<Row>& rows) {
  const Medians medians(rows);
  std::vector<Goal> goals;
  struct Compared {
    const char* reference;
    double bound;
  };
  for (const auto& [reference, bound] : {Compared{"hybrid-opt", kNoise}, Compared{"oracle", 1.1}})
    for (const auto& [name, figure] :
         {std::pair<const char*, Figure>{"local phase", local_phase}, {"flush completion", flush_completion}}) {
      const Worst worst = worst_cell(medians, "adaptive", reference, figure);
      if (worst.ratio == 0) continue;
      goals.push_back(
          at_most(fmt::format("{}: adaptive / {}, worst cell ({})", name, reference, worst.where), bound, worst.ratio));
    }
  return goals;
}

std::string goals_text(const std::vector<Goal>& goals) {
  std::string text;
  for (const Goal& goal : goals) {
    if (goal.kind == Goal::Kind::claimed)
      text += fmt::format("  {:8} {}  (paper: {:.3g})  {}\n", "", value_text(goal.value), goal.wanted, goal.what);
    else
      text += fmt::format("  {:8} {}  (asked: {} {:.3g})  {}\n", goal.met() ? "met" : "NOT met", value_text(goal.value),
                          goal.comparison, goal.wanted, goal.what);
  }
  return text;
}

std::string goals_json(const std::vector<Goal>& goals) {
  base::Json list = base::Json::array();
  for (const Goal& goal : goals) {
    base::Json json = {{"what", goal.what}, {"value", goal.value}, {"wanted", goal.wanted}};
    json["kind"] = goal.kind == Goal::Kind::asked ? "asked" : "claimed";
    if (goal.kind == Goal::Kind::asked) json["comparison"] = goal.comparison, json["met"] = goal.met();
    list.push_back(std::move(json));
  }
  return list.dump(1, ' ', false, base::Json::error_handler_t::replace) + "\n";
}

}  // namespace perdure::studies
