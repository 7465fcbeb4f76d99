// Fills the fields with the deck's initial state.
#include <cmath>

#include "hydro.hpp"
#include "mirror.hpp"

namespace clover {
namespace {

bool has(const State& state, const Fields& fields, const Index& cell) {
  double distance = 0;
  bool in_box = true, at_point = true;
  for (unsigned axis = 0; axis < fields.dimensions; ++axis) {
    const Profile& vertex = fields.vertex[axis];
    const auto low = static_cast<std::size_t>(cell[axis] - vertex.first);
    const double begin = vertex.values[low], end = vertex.values[low + 1];
    in_box = in_box && end >= state.low[axis] && begin < state.high[axis];
    at_point = at_point && begin == state.low[axis];
    const double off = 0.5 * (begin + end) - state.low[axis];
    distance += off * off;
  }
  switch (state.geometry) {
    case State::Geometry::box:
      return in_box;
    case State::Geometry::ball:
      return std::sqrt(distance) <= state.radius;
    case State::Geometry::point:
      return at_point;
  }
  return false;
}

// Nodes of a cell have its velocity.
bool touches(const State& state, const Fields& fields, const Index& node) {
  for (int corner = 0; corner < 1 << fields.dimensions; ++corner) {
    Index cell = node;
    for (unsigned axis = 0; axis < fields.dimensions; ++axis) cell[axis] -= corner >> axis & 1;
    if (has(state, fields, cell)) return true;
  }
  return false;
}

void fill_with_states(Fields& fields, const std::vector<State>& states) {
  fields.loop(
      "initial states", fields.cells(),
      [&](auto& density, auto& energy, const Index& cell) {
        density(0) = states[0].density;
        energy(0) = states[0].energy;
        for (std::size_t i = 1; i < states.size(); ++i)
          if (has(states[i], fields, cell)) density(0) = states[i].density, energy(0) = states[i].energy;
      },
      write(fields.density0), write(fields.energy0), perdure::mesh::index());
  for (unsigned axis = 0; axis < fields.dimensions; ++axis)
    fields.loop(
        "initial velocities", fields.nodes(),
        [&](auto& velocity, const Index& node) {
          velocity(0) = states[0].velocity[axis];
          for (std::size_t i = 1; i < states.size(); ++i)
            if (touches(states[i], fields, node)) velocity(0) = states[i].velocity[axis];
        },
        write(*fields.velocity0[axis]), perdure::mesh::index());
}

void fill(Fields& fields, Field& field, double value) {
  fields.loop(
      "fill", field.whole(), [=](auto& element) { element(0) = value; }, write(field));
}

}  // namespace

void initialise(Fields& fields, const Deck& deck) {
  double volume = 1;
  for (unsigned axis = 0; axis < fields.dimensions; ++axis) volume *= deck.width(axis);
  fill(fields, fields.volume, volume);
  for (unsigned axis = 0; axis < fields.dimensions; ++axis) {
    double area = 1;
    for (unsigned other = 0; other < fields.dimensions; ++other)
      if (other != axis) area *= deck.width(other);
    fill(fields, *fields.area[axis], area);
  }
  fill_with_states(fields, deck.states);
  equation_of_state(fields, fields.density0, fields.energy0);
  std::vector<Mirrored> all{cell(fields.density0), cell(fields.energy0), cell(fields.pressure)};
  for (unsigned axis = 0; axis < fields.dimensions; ++axis) all.push_back(velocity(*fields.velocity0[axis], axis));
  mirror(fields, all, 2);
}

}  // namespace clover
