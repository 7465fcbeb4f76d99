// Holds the bodies of one rank, and computes their forces from a block of others. Does no communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nbody {

/// One array per coordinate, so that the inner loops run over contiguous numbers.
struct Vectors {
  std::vector<double> x, y, z;
  explicit Vectors(std::size_t count = 0) : x(count), y(count), z(count) {}
  std::size_t size() const { return x.size(); }
};

/// The data that travels around the ring: positions and masses.
struct Block {
  Vectors position;
  std::vector<double> mass;
  explicit Block(std::size_t count = 0) : position(count), mass(count) {}
  std::size_t size() const { return mass.size(); }
};

struct Bodies {
  Block block;
  Vectors velocity;
  explicit Bodies(std::size_t count = 0) : block(count), velocity(count) {}
  std::size_t size() const { return block.size(); }
};

/// All data of one body in a checkpoint; a rank's bodies are a part of the list.
struct Body {
  double position[3], velocity[3], mass;
};
/// Both sides must have the same number of bodies.
void list(const Bodies& bodies, std::vector<Body>& into);
void take(const std::vector<Body>& list, Bodies& bodies);

/// Returns bodies number `first` to `first + count - 1` of `total`: a cold cube, the same whatever the number of ranks.
Bodies initial_bodies(std::uint64_t seed, std::size_t total, std::size_t first, std::size_t count);

/// Adds to `acceleration` the pull of `sources` on `targets` (G = 1, Plummer softening). A body does not pull itself.
void add_acceleration(const Vectors& targets, const Block& sources, double softening, Vectors& acceleration);

/// Returns the sum of m_i m_j / distance over targets and sources; `same` leaves out a body with itself.
double pair_sum(const Block& targets, const Block& sources, double softening, bool same);

double kinetic_energy(const Bodies& bodies);
void kick(Vectors& velocity, const Vectors& acceleration, double time);
void drift(Vectors& position, const Vectors& velocity, double time);

}  // namespace nbody
