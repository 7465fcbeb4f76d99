#include "report.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <utility>

namespace clover {

void Report::begin(const Deck& deck, const std::string& path, int ranks, int threads) const {
  if (!speaks_) return;
  std::string cells;
  for (unsigned axis = 0; axis < deck.dimensions; ++axis)
    cells += (axis == 0 ? "" : " x ") + std::to_string(deck.cells[axis]);
  std::printf(" %s: %s, %s cells, %d ranks of %d threads\n", kProgram, path.c_str(), cells.c_str(), ranks, threads);
}

void Report::step(std::int64_t step, double time, const char* control, double dt) const {
  if (!speaks_) return;
  std::printf(" Step %7" PRId64 " time %11.7f control %11s timestep  %9.2E\n", step, time, control, dt);
}

void Report::summary(std::int64_t step, double time, const Summary& summary) const {
  if (!speaks_) return;
  const auto& [volume, mass, internal, kinetic, pressure] = summary;
  const std::pair<const char*, double> columns[] = {{"Volume", volume},
                                                    {"Mass", mass},
                                                    {"Density", mass / volume},
                                                    {"Pressure", pressure / volume},
                                                    {"Internal Energy", internal},
                                                    {"Kinetic Energy", kinetic},
                                                    {"Total Energy", internal + kinetic}};
  std::printf("\n Time %.15g\n%13s", time, "");
  for (const auto& [name, value] : columns) std::printf("%*s", digits_.width(16), name);
  std::printf("\n step:%7" PRId64, step);
  for (const auto& [name, value] : columns) std::printf("%s", digits_.scientific(value, 16, 4).c_str());
  std::printf("\n\n");
  std::fflush(stdout);
}

void Report::verdict(std::int64_t problem, double kinetic_energy) const {
  if (!speaks_) return;
  const double expected = kExpected[static_cast<std::size_t>(problem) - 1];
  const double percent = std::abs(100.0 * (kinetic_energy / expected) - 100.0);
  std::printf(" Test problem %4" PRId64 " is within %16.7E %% of the expected solution\n", problem, percent);
  std::printf(" This test is considered %s\n", percent < 0.001 ? "PASSED" : "NOT PASSED");
}

void Report::end(double kinetic_energy, double seconds, const std::string& hash) const {
  if (!speaks_) return;
  std::printf(" Calculation complete\n Wall clock %.3f s\n", seconds);
  std::printf("kinetic energy: %s\nfinal state hash: %s\n", digits_.shortest(kinetic_energy, 15).c_str(), hash.c_str());
  std::fflush(stdout);
}

}  // namespace clover
