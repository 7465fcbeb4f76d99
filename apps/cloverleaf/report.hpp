#pragma once
// Prints CloverLeaf's output in the form that its users know. Only one rank prints.
#include <string>

#include "deck.hpp"
#include "hydro.hpp"
#include "mesh_program.hpp"

namespace clover {

class Report {
 public:
  Report(bool speaks, Digits digits) : speaks_(speaks), digits_(digits) {}
  void begin(const Deck& deck, const std::string& path, int ranks, int threads) const;
  void step(std::int64_t step, double time, const char* control, double dt) const;
  void summary(std::int64_t step, double time, const Summary& summary) const;
  /// Prints whether the test problem was solved.
  void verdict(std::int64_t problem, double kinetic_energy) const;
  void end(double kinetic_energy, double seconds, const std::string& hash) const;

 private:
  bool speaks_;
  Digits digits_;
};

}  // namespace clover
