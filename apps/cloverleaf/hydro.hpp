#pragma once
// Declares the parts of a time step. Code that differs between two and three dimensions is in *2d.cpp and *3d.cpp; each
// program links one of them.
#include <string>
#include <vector>

#include "fields.hpp"

namespace clover {

extern const char* const kProgram;
extern const unsigned kDimensions;
/// Kinetic energies at the end of test problems 1 to 5.
extern const std::array<double, 5> kExpected;

/// Sets the fields that are known before the first time step.
void initialise(Fields& fields, const Deck& deck);

/// A limit of the time step, and its reason.
struct Limit {
  const char* reason;
  double timestep;
};
/// Before a time step: computes pressure and viscosity, and the limits that they set.
std::vector<Limit> limits_of_step(Fields& fields);

/// Makes a time step, from level 0 to level 0. The order of directions alternates: along x first, or last.
void advance(Fields& fields, double dt, bool x_first);

struct Summary {
  double volume = 0, mass = 0, internal_energy = 0, kinetic_energy = 0, pressure = 0;
};
Summary summarise(Fields& fields);

// Parts of a time step.
// The equation of state of an ideal gas with a ratio of specific heats of 1.4.
void equation_of_state(Fields& fields, Field& density, Field& energy);
void artificial_viscosity(Fields& fields);
std::vector<Limit> limits(Fields& fields);
/// Applies the work of pressure and viscosity, in half a time step or in all of it, from level 0 to level 1.
void predict(Fields& fields, double dt);
void correct(Fields& fields, double dt);
void accelerate(Fields& fields, double dt);
void volume_fluxes(Fields& fields, double dt);
void advect(Fields& fields, bool x_first);

}  // namespace clover
