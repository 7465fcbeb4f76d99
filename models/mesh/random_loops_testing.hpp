#pragma once
// Generates programs of random loops on a mesh.
#include <cmath>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "mesh/divided.hpp"
#include "mesh/mesh.hpp"

namespace perdure::mesh {

inline std::int64_t mixed_values(std::int64_t a, std::int64_t b) {
  const std::uint64_t sum =
      (static_cast<std::uint64_t>(a) ^ static_cast<std::uint64_t>(b) << 1U) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::int64_t>(sum ^ sum >> 29U);
}

/// The whole content of each data set, from all ranks.
using Content = std::vector<std::vector<std::int64_t>>;

/// Adds this rank's part.
inline void add_content(const std::vector<Data<std::int64_t>*>& sets, Content& content) {
  content.resize(sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const Box& whole = sets[i]->whole();
    content[i].resize(whole.elements());
    const Box own = sets[i]->owned();
    for (std::int64_t z = own.begin[2]; z < std::max<std::int64_t>(own.end[2], 1); ++z)
      for (std::int64_t y = own.begin[1]; y < std::max<std::int64_t>(own.end[1], 1); ++y)
        for (std::int64_t x = own.begin[0]; x < own.end[0]; ++x) {
          Index at{};
          at = {x, y, z};
          std::int64_t place = 0;
          for (unsigned d = whole.dimensions; d-- > 0;)
            place = place * (whole.end[d] - whole.begin[d]) + at[d] - whole.begin[d];
          content[i][static_cast<std::size_t>(place)] = *sets[i]->at(at);
        }
  }
}

/// Callbacks at certain points of a program.
struct Hooks {
  std::function<void(Mesh&)> initialised = [](Mesh&) {};  ///< called before the time steps
  std::function<void()> before_loop = [] {};
};

/// Runs time steps of loops over random ranges with random stencils. Their values depend on all elements read, and
/// their reductions decide the next steps.
class RandomLoops {
 public:
  explicit RandomLoops(std::uint64_t seed, int steps = 2) : random_(seed), steps_(steps), steady_(seed % 2 == 0) {
    const auto dimensions = 1 + below(3);
    for (std::uint64_t d = 0; d < dimensions; ++d) cells_.push_back(static_cast<std::int64_t>(10 + below(8)));
    for (int i = 0; i < 4; ++i) {
      Shape shape;
      for (std::size_t d = 0; d < dimensions; ++d) shape.more[d] = static_cast<std::int64_t>(below(2));
      shape.halo = 1 + static_cast<std::int64_t>(below(2));
      shapes_.push_back(shape);
    }
    for (int i = 0; i < 12; ++i) loops_.push_back(any_loop());
  }
  bool fits(int ranks) const { return divided(cells_, ranks, 2).has_value(); }

  /// Fills in this rank's part of all data sets. Returns all results of reductions; the last ones cover the whole
  /// content.
  std::vector<double> run(std::unique_ptr<Ranks> ranks, Options options, Content& content, std::mutex& mutex) const {
    return run(std::move(ranks), options, content, mutex, {});
  }
  std::vector<double> run(std::unique_ptr<Ranks> ranks, Options options, Content& content, std::mutex& mutex,
                          const Hooks& hooks) const {
    Mesh mesh(std::move(ranks), options);
    const Block& block = mesh.block("block", cells_);
    std::vector<Data<std::int64_t>*> sets;
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      sets.push_back(&mesh.data<std::int64_t>(block, "set" + std::to_string(i), shapes_[i]));
    for (std::size_t i = 0; i < sets.size(); ++i)
      mesh.par_loop(
          "fill", block, sets[i]->whole(),
          [i](auto& value, const Index& at) {
            value(0) = mixed_values(mixed_values(at[0], at[1]), mixed_values(at[2], static_cast<std::int64_t>(i)));
          },
          write(*sets[i]), index());
    const auto add = [](const auto& value, double& all) { all += static_cast<double>(value(0) & 0xffff); };
    auto sum = mesh.sum();
    Box cells{block.dimensions(), {}, {}};
    std::copy(cells_.begin(), cells_.end(), cells.end.begin());
    for (auto* set : sets)  // so that ghosts are valid before the first time step
      mesh.par_loop("look", block, cells, add, read(*set, Stencil::star(block.dimensions())), into(sum));
    (void)mesh.collect(sum);
    hooks.initialised(mesh);
    std::vector<double> answers;
    double last = 0;
    for (int step = 0; step < steps_; ++step) {
      bool asked = false;
      for (const Loop& loop : loops_) {
        if (std::fmod(last, loop.only_if) != 0) continue;
        hooks.before_loop();
        call(mesh, block, sets, loop);
        if (asked) answers.push_back(last = mesh.collect(sum));  // another loop ran in between
        asked = false;
        if (!loop.asks) continue;
        hooks.before_loop();
        mesh.par_loop("ask", block, loop.range, add, read(*sets[loop.out]), into(sum));
        asked = true;
        if (!loop.late) answers.push_back(last = mesh.collect(sum)), asked = false;
      }
      if (asked) answers.push_back(last = mesh.collect(sum));
    }
    for (auto* set : sets) {
      hooks.before_loop();
      mesh.par_loop("all", block, set->whole(), add, read(*set), into(sum));
      answers.push_back(mesh.collect(sum));
    }
    std::lock_guard guard(mutex);
    add_content(sets, content);
    return answers;
  }

 private:
  struct Loop {
    Box range;
    std::size_t out;
    std::array<std::size_t, 2> in;
    std::array<Stencil, 2> stencils;
    std::array<std::vector<Index>, 2> points;
    bool also_reads, asks, late;
    double only_if;
  };

  static void call(Mesh& mesh, const Block& block, const std::vector<Data<std::int64_t>*>& sets, const Loop& loop) {
    const auto kernel = [&](auto& out, const auto& a, const auto& b) {
      std::int64_t value = loop.also_reads ? out(0) : 17;
      for (const Index& offset : loop.points[0]) value = mixed_values(value, a(offset[0], offset[1], offset[2]));
      for (const Index& offset : loop.points[1]) value = mixed_values(value, b(offset[0], offset[1], offset[2]));
      out(0) = value;
    };
    if (loop.also_reads)
      mesh.par_loop("reads and writes", block, loop.range, kernel, read_write(*sets[loop.out]),
                    read(*sets[loop.in[0]], loop.stencils[0]), read(*sets[loop.in[1]], loop.stencils[1]));
    else
      mesh.par_loop("writes", block, loop.range, kernel, write(*sets[loop.out]),
                    read(*sets[loop.in[0]], loop.stencils[0]), read(*sets[loop.in[1]], loop.stencils[1]));
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  Box whole(std::size_t set) const {
    Box box;
    box.dimensions = static_cast<unsigned>(cells_.size());
    for (unsigned d = 0; d < box.dimensions; ++d) {
      box.begin[d] = -shapes_[set].halo;
      box.end[d] = cells_[d] + shapes_[set].more[d] + shapes_[set].halo;
    }
    return box;
  }
  Loop any_loop() {
    Loop loop;
    loop.out = below(shapes_.size());
    loop.also_reads = below(2) == 0;
    loop.asks = below(3) == 0;
    loop.late = below(3) == 0;
    loop.only_if = !steady_ && below(3) == 0 ? static_cast<double>(1 + below(3)) : 1;
    loop.range = whole(loop.out);
    for (int which = 0; which < 2; ++which) {
      do loop.in[static_cast<std::size_t>(which)] = below(shapes_.size());
      while (loop.in[static_cast<std::size_t>(which)] == loop.out);
      const std::size_t set = loop.in[static_cast<std::size_t>(which)];
      Stencil& stencil = loop.stencils[static_cast<std::size_t>(which)];
      const auto radius = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(shapes_[set].halo) + 1));
      const auto dimensions = static_cast<unsigned>(cells_.size());
      Index first{}, last{};
      for (unsigned d = 0; d < dimensions; ++d) {
        first[d] = -static_cast<std::int64_t>(below(static_cast<std::uint64_t>(radius) + 1));
        last[d] = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(radius) + 1));
      }
      stencil = below(2) == 0 ? Stencil::star(dimensions, radius) : Stencil::from_to(first, last);
      for (std::int64_t z = -2; z <= 2; ++z)
        for (std::int64_t y = -2; y <= 2; ++y)
          for (std::int64_t x = -2; x <= 2; ++x)
            if (stencil.contains(x, y, z)) {
              Index point{};
              point = {x, y, z};
              loop.points[static_cast<std::size_t>(which)].push_back(point);
            }
      const Box all = whole(set);
      for (unsigned d = 0; d < dimensions; ++d) {
        loop.range.begin[d] = std::max(loop.range.begin[d], all.begin[d] - stencil.below(d));
        loop.range.end[d] = std::min(loop.range.end[d], all.end[d] - stencil.above(d));
      }
    }
    for (unsigned d = 0; d < loop.range.dimensions; ++d) {  // often only a part, such as a strip
      const std::int64_t length = loop.range.end[d] - loop.range.begin[d];
      if (length < 2 || below(3) == 0) continue;
      const auto begin = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(length)));
      loop.range.end[d] = loop.range.begin[d] + begin + 1 +
                          static_cast<std::int64_t>(below(static_cast<std::uint64_t>(length - begin)));
      loop.range.begin[d] += begin;
    }
    return loop;
  }

  std::mt19937_64 random_;
  int steps_;
  bool steady_;  // all time steps have the same loops
  std::vector<std::int64_t> cells_;
  std::vector<Shape> shapes_;
  std::vector<Loop> loops_;
};

}  // namespace perdure::mesh
