#pragma once
// Runs programs of two blocks that have their own time steps and exchange values at their edges. One block does several
// sub-steps during one step of the other.
#include <algorithm>
#include <functional>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "mesh/divided.hpp"
#include "mesh/random_loops_testing.hpp"

namespace perdure::mesh {

using IntField = Data<std::int64_t>;

inline std::vector<Index> star_of(unsigned dimensions) {
  std::vector<Index> all{Index{}};
  for (unsigned d = 0; d < dimensions; ++d)
    for (const std::int64_t step : {-1, 1}) all.emplace_back()[d] = step;
  return all;
}

/// `fine` lies next to the upper end of `coarse` in x.
class TwoBlocks {
 public:
  struct Shape {
    std::vector<std::int64_t> coarse, fine;
    std::int64_t sub_steps = 0;  ///< in each step; 0: as many as the last reduction says, 0 to 3
    int steps = 12;
    std::int64_t later = 0;   ///< sub-steps in each step of the second half; 0: no change
    bool same_names = false;  ///< the loops on both blocks have the same names
  };
  explicit TwoBlocks(Shape shape) : shape_(std::move(shape)) {}
  static TwoBlocks any(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    Shape shape;
    for (std::int64_t d = 1 + below(3); d > 0; --d) {
      shape.coarse.push_back(8 + below(6));
      shape.fine.push_back(8 + below(6));
    }
    shape.sub_steps = below(2) == 0 ? 0 : 1 + below(4);
    shape.later = below(2) == 0 ? 0 : 1 + below(4);
    shape.same_names = below(2) == 0;
    return TwoBlocks(std::move(shape));
  }
  static constexpr const char* kLoops[] = {"hand down", "flux", "advance", "sub-step",
                                           "edge",      "next", "hand up", "end"};
  bool fits(int ranks) const { return divided(shape_.coarse, ranks, 2) && divided(shape_.fine, ranks, 2); }

  /// Runs as RandomLoops::run() does.
  std::vector<double> run(std::unique_ptr<Ranks> ranks, Options options, Content& content, std::mutex& mutex,
                          const Hooks& hooks) const {
    Mesh mesh(std::move(ranks), options);
    Sets sets(mesh, shape_);
    sets.fill(mesh);
    hooks.initialised(mesh);
    std::vector<double> answers;
    for (int step = 0; step < shape_.steps; ++step) sets.step(mesh, shape_, step, hooks.before_loop, answers);
    for (IntField* set : sets.all()) {
      hooks.before_loop();
      answers.push_back(sets.sum(mesh, *set, set->whole()));
    }
    std::lock_guard guard(mutex);
    add_content(sets.all(), content);
    return answers;
  }

 private:
  static Box cells_of(const Block& block) {
    Box all{block.dimensions(), {}, {}};
    for (unsigned d = 0; d < all.dimensions; ++d) all.end[d] = block.cells[d];
    return all;
  }

  struct Sets {
    Sets(Mesh& mesh, const Shape& shape)
        : coarse(mesh.block("coarse", shape.coarse)),
          fine(mesh.block("fine", shape.fine)),
          now(mesh.data<std::int64_t>(coarse, "now")),
          flux(mesh.data<std::int64_t>(coarse, "flux")),
          next(mesh.data<std::int64_t>(coarse, "next")),
          fine_now(mesh.data<std::int64_t>(fine, "fine_now")),
          fine_next(mesh.data<std::int64_t>(fine, "fine_next")),
          edge(mesh.data<std::int64_t>(fine, "edge")) {}
    std::vector<IntField*> all() { return {&now, &flux, &next, &fine_now, &fine_next, &edge}; }

    void fill(Mesh& mesh) {
      for (IntField* set : all())
        mesh.par_loop(
            "fill", set->block(), set->whole(),
            [set](auto& value, const Index& at) {
              value(0) = mixed_values(mixed_values(at[0], at[1]), mixed_values(at[2], set->id));
            },
            write(*set), index());
    }
    double sum(Mesh& mesh, IntField& set, const Box& range) {
      auto sum = mesh.sum();
      mesh.par_loop(
          "sum", set.block(), range,
          [](const auto& value, double& all) { all += static_cast<double>(value(0) & 0xffff); }, read(set), into(sum));
      return mesh.collect(sum);
    }
    /// Sets `to` from the elements of `from` that `star` reads, and from `also`.
    void combine(Mesh& mesh, const char* name, IntField& to, IntField& from, IntField& also) {
      const auto points = star_of(coarse.dimensions());
      mesh.par_loop(
          name, to.block(), cells_of(to.block()),
          [&](auto& out, const auto& in, const auto& with) {
            std::int64_t value = with(0);
            for (const Index& at : points) value = mixed_values(value, in(at[0], at[1], at[2]));
            out(0) = value;
          },
          write(to), read(from, Stencil::star(coarse.dimensions())), read(also));
    }
    void copy(Mesh& mesh, const char* name, IntField& to, IntField& from) {
      mesh.par_loop(
          name, to.block(), cells_of(to.block()), [](auto& out, const auto& in) { out(0) = in(0); }, write(to),
          read(from));
    }
    /// Returns the cells of both blocks side by side, with x from `begin` to before `end`.
    Box beside(std::int64_t begin, std::int64_t end) const {
      Box range = cells_of(fine);
      for (unsigned d = 1; d < range.dimensions; ++d) range.end[d] = std::min(coarse.cells[d], fine.cells[d]);
      range.begin[0] = begin;
      range.end[0] = end;
      return range;
    }

    void step(Mesh& mesh, const Shape& shape, int number, const std::function<void()>& before,
              std::vector<double>& answers) {
      const std::int64_t x = coarse.cells[0];
      before();
      const Transfer down[] = {{&fine_now, beside(-1, 0), &now, {x}}, {&edge, beside(0, 2), &now, {x - 2}}};
      mesh.transfer("hand down", down);
      before();
      combine(mesh, "flux", flux, now, now);
      before();
      combine(mesh, "advance", next, flux, now);
      const auto last = answers.empty() ? 0 : static_cast<std::int64_t>(answers.back());
      const bool is_later = shape.later > 0 && number >= shape.steps / 2;
      const std::int64_t says = is_later ? shape.later : shape.sub_steps, sub_steps = says > 0 ? says : last % 4;
      for (std::int64_t i = 0; i < sub_steps; ++i) sub_step(mesh, shape.same_names, before);
      before();
      mesh.transfer("hand up", next, beside(x - 2, x), fine_now, {2 - x});
      before();
      copy(mesh, "end", now, next);
      if (shape.sub_steps > 0) return;
      before();
      answers.push_back(sum(mesh, now, cells_of(coarse)));
    }
    void sub_step(Mesh& mesh, bool same_names, const std::function<void()>& before) {
      before();
      combine(mesh, same_names ? "advance" : "sub-step", fine_next, fine_now, fine_now);
      before();
      mesh.par_loop(
          "edge", fine, beside(0, 2), [](auto& out, const auto& in) { out(0) = mixed_values(out(0), in(0)); },
          read_write(fine_next), read(edge));
      before();
      copy(mesh, same_names ? "end" : "next", fine_now, fine_next);
    }

    const Block &coarse, &fine;
    IntField &now, &flux, &next, &fine_now, &fine_next, &edge;
  };

  Shape shape_;
};

}  // namespace perdure::mesh
