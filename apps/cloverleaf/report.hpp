#pragma once
// What CloverLeaf prints, in the form that its users know. One rank speaks.
#include <span>
#include <string>

#include "deck.hpp"
#include "hydro.hpp"
#include "mesh/protection.hpp"

namespace clover {

class Report {
 public:
  explicit Report(bool speaks) : speaks_(speaks) {}
  void begin(const Deck& deck, const std::string& path, int ranks, int threads) const;
  void step(std::int64_t step, double time, const char* control, double dt) const;
  void summary(std::int64_t step, double time, const Summary& summary) const;
  /// Where a restart goes to, if it is one.
  void goes_on(const perdure::mesh::Protection& protection) const;
  /// What was saved.
  void checkpoints(const perdure::mesh::Protection& protection) const;
  /// Whether the test problem was solved.
  void verdict(std::int64_t problem, double kinetic_energy) const;
  void end(double kinetic_energy, double seconds, std::uint64_t hash) const;

 private:
  bool speaks_;
};

}  // namespace clover
