#pragma once
// Figures to reach, and those that the paper claims.
#include <string>
#include <vector>

#include "medians.hpp"

namespace perdure::studies {

struct Goal {
  enum class Kind {
    asked,   ///< of the project: met or not met
    claimed  ///< by the paper, for comparison only
  };
  Kind kind = Kind::asked;
  std::string what;
  std::string comparison;  ///< ">=" or "<="; empty for what is only told
  double wanted = 0;
  double value = 0;
  bool met() const { return comparison == ">=" ? value >= wanted : comparison == "<=" ? value <= wanted : true; }
};

Goal at_least(std::string what, double wanted, double value);
Goal at_most(std::string what, double wanted, double value);
/// `text` names the paper's figure.
Goal claim(std::string text, double paper, double value);

/// Cells differ between seeds by this much, so that less is no loss.
inline constexpr double kNoise = 1.02;
/// That `adaptive` nowhere loses to hybrid-opt and is close to the oracle: the worst cell of each figure is judged.
std::vector<Goal> adaptive_goals(const std::vector<Row>& rows);

/// One line for each, with "met" or "NOT met".
std::string goals_text(const std::vector<Goal>& goals);
std::string goals_json(const std::vector<Goal>& goals);

}  // namespace perdure::studies
