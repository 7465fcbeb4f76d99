#pragma once
// Runs a mesh program whose checkpoints the benchmark measures: it smooths four fields step by step.
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "mesh/protection.hpp"

namespace perdure::mesh_bench {

/// --key value ...
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 2; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
  }
  std::string text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) throw std::runtime_error(key + " is missing");
    return found->second;
  }
  std::int64_t number(const std::string& key) const { return std::stoll(text(key)); }

 private:
  std::map<std::string, std::string> values_;
};

/// Returns the options for store and nodes.
std::string places(const Arguments& arguments);

class Smoothing {
 public:
  static constexpr int kFields = 4;
  static constexpr int kLoops = 2 * kFields;  ///< in each step
  Smoothing(std::int64_t columns, std::int64_t rows);
  /// Runs all loops of a step, and calls `after` after each.
  template <class After>
  void step(const After& after);
  /// Returns the greatest value, as a program does at the end of a step.
  double greatest();
  mesh::Mesh& on() { return mesh_; }

 private:
  mesh::Mesh mesh_;
  const mesh::Block& block_;
  std::array<mesh::Data<double>*, kFields> now_{}, next_{};
};

template <class After>
void Smoothing::step(const After& after) {
  static constexpr const char* kSmooth[] = {"smooth a", "smooth b", "smooth c", "smooth d"};
  static constexpr const char* kReset[] = {"reset a", "reset b", "reset c", "reset d"};
  static const mesh::Stencil star = mesh::Stencil::star(2);
  const mesh::Box cells = mesh::box({{0, block_.cells[0]}, {0, block_.cells[1]}});
  for (std::size_t field = 0; field < kFields; ++field) {
    mesh_.par_loop(
        kSmooth[field], block_, cells,
        [](auto& next, const auto& now) {
          next(0, 0) = 0.5 * now(0, 0) + 0.125 * (now(1, 0) + now(-1, 0) + now(0, 1) + now(0, -1));
        },
        mesh::write(*next_[field]), mesh::read(*now_[field], star));
    after();
  }
  for (std::size_t field = 0; field < kFields; ++field) {
    mesh_.par_loop(
        kReset[field], block_, cells, [](auto& now, const auto& next) { now(0) = next(0); }, mesh::write(*now_[field]),
        mesh::read(*next_[field]));
    after();
  }
}

}  // namespace perdure::mesh_bench
