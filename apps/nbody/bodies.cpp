// Computes the forces between bodies. Every sum has a fixed order, so that a run gives the same bits however often it
// is interrupted. It is the order in which blocks travel around the ring. With another number of ranks, sums round
// differently, and the bits differ.
#include "bodies.hpp"

#include <cmath>

namespace nbody {
namespace {

/// Draws numbers from [-1, 1) by splitmix64: exact arithmetic, equal on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Bodies initial_bodies(std::uint64_t seed, std::size_t total, std::size_t first, std::size_t count) {
  Bodies bodies(count);
  for (std::size_t i = 0; i < count; ++i) {
    Random random(seed * 0x2545f4914f6cdd1dU + first + i);
    auto& [position, mass] = bodies.block;
    position.x[i] = random.next();
    position.y[i] = random.next();
    position.z[i] = random.next();
    bodies.velocity.x[i] = 0.1 * random.next();
    bodies.velocity.y[i] = 0.1 * random.next();
    bodies.velocity.z[i] = 0.1 * random.next();
    mass[i] = 1.0 / static_cast<double>(total);
  }
  return bodies;
}

void list(const Bodies& bodies, std::vector<Body>& into) {
  const auto& [p, mass] = bodies.block;
  const auto& v = bodies.velocity;
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = {{p.x[i], p.y[i], p.z[i]}, {v.x[i], v.y[i], v.z[i]}, mass[i]};
}

void take(const std::vector<Body>& list, Bodies& bodies) {
  auto& [p, mass] = bodies.block;
  auto& v = bodies.velocity;
  for (std::size_t i = 0; i < list.size(); ++i) {
    p.x[i] = list[i].position[0], p.y[i] = list[i].position[1], p.z[i] = list[i].position[2];
    v.x[i] = list[i].velocity[0], v.y[i] = list[i].velocity[1], v.z[i] = list[i].velocity[2];
    mass[i] = list[i].mass;
  }
}

void add_acceleration(const Vectors& targets, const Block& sources, double softening, Vectors& acceleration) {
  const double softening2 = softening * softening;
  const std::size_t count = targets.size();
  const double *tx = targets.x.data(), *ty = targets.y.data(), *tz = targets.z.data();
  double *ax = acceleration.x.data(), *ay = acceleration.y.data(), *az = acceleration.z.data();
  for (std::size_t j = 0; j < sources.size(); ++j) {
    const double sx = sources.position.x[j], sy = sources.position.y[j], sz = sources.position.z[j];
    const double mass = sources.mass[j];
    for (std::size_t i = 0; i < count; ++i) {  // targets are innermost: independent sums, so the compiler may vectorise
      const double dx = sx - tx[i], dy = sy - ty[i], dz = sz - tz[i];
      const double distance2 = dx * dx + dy * dy + dz * dz + softening2;
      const double strength = mass / (distance2 * std::sqrt(distance2));
      ax[i] += strength * dx;
      ay[i] += strength * dy;
      az[i] += strength * dz;
    }
  }
}

double pair_sum(const Block& targets, const Block& sources, double softening, bool same) {
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (same && i == j) continue;
      const double dx = sources.position.x[j] - targets.position.x[i];
      const double dy = sources.position.y[j] - targets.position.y[i];
      const double dz = sources.position.z[j] - targets.position.z[i];
      sum += targets.mass[i] * sources.mass[j] / std::sqrt(dx * dx + dy * dy + dz * dz + softening * softening);
    }
  }
  return sum;
}

double kinetic_energy(const Bodies& bodies) {
  double sum = 0;
  const auto& v = bodies.velocity;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    sum += 0.5 * bodies.block.mass[i] * (v.x[i] * v.x[i] + v.y[i] * v.y[i] + v.z[i] * v.z[i]);
  }
  return sum;
}

namespace {
void add_scaled(std::vector<double>& to, const std::vector<double>& what, double factor) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * what[i];
}
}  // namespace

void kick(Vectors& velocity, const Vectors& acceleration, double time) {
  add_scaled(velocity.x, acceleration.x, time);
  add_scaled(velocity.y, acceleration.y, time);
  add_scaled(velocity.z, acceleration.z, time);
}

void drift(Vectors& position, const Vectors& velocity, double time) { kick(position, velocity, time); }

}  // namespace nbody
