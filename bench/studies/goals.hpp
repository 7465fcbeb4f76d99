#pragma once
// Judges figures against the project's goals and the paper's claims.
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
  std::string comparison;  ///< ">=" or "<="; empty if only reported
  double wanted = 0;
  double value = 0;
  bool met() const { return comparison == ">=" ? value >= wanted : comparison == "<=" ? value <= wanted : true; }
};

Goal at_least(std::string what, double wanted, double value);
Goal at_most(std::string what, double wanted, double value);
/// `text` names the paper's figure.
Goal claim(std::string text, double paper, double value);

/// Cells differ between seeds by this factor, so a smaller difference is no loss.
inline constexpr double kNoise = 1.02;
/// Judges that `adaptive` never loses to hybrid-opt and is close to the oracle, by the worst cell of each figure.
std::vector<Goal> adaptive_goals(const std::vector<Row>& rows);

/// Returns one line for each, with "met" or "NOT met".
std::string goals_text(const std::vector<Goal>& goals);
std::string goals_json(const std::vector<Goal>& goals);

}  // namespace perdure::studies
