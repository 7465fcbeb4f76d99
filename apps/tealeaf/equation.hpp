#pragma once
// Solves heat conduction in two dimensions, one implicit step after the other: A u = u0, where u is energy per volume.
#include <cstdint>
#include <limits>

#include "deck.hpp"
#include "mesh/mesh.hpp"

namespace tealeaf {

namespace mesh = perdure::mesh;
using Field = mesh::Data<double>;

/// Applies A at one cell: its own term, less those of its four neighbours through the faces between.
struct Operator {
  double rx, ry;
  template <class X, class Kx, class Ky, class Di>
  double operator()(const X& x, const Kx& kx, const Ky& ky, const Di& di) const {
    return di(0, 0) * x(0, 0) - ry * (ky(0, 1) * x(0, 1) + ky(0, 0) * x(0, -1)) -
           rx * (kx(1, 0) * x(1, 0) + kx(0, 0) * x(-1, 0));
  }
};

/// Sums over the whole domain.
struct Summary {
  double volume, mass, energy, u;
};

class Equation {
 public:
  Equation(mesh::Mesh& mesh, const Deck& deck);

  void initialise();
  /// Computes u0 from the energy, and A.
  void assemble();
  /// Sets r = u0 - A u, and returns the sum of its squares.
  double residual();
  /// Computes the energy from u.
  void finish();
  Summary summary();

  /// Runs `kernel(x, kx, ky, di, ...)` at every cell; x includes its neighbours, and further fields are as given.
  template <class Kernel, class... Arguments>
  void with_operator(mesh::LoopName name, Field& x, const Kernel& kernel, const Arguments&... arguments) {
    run.par_loop(name, block, cells, kernel, mesh::read(x, star), mesh::read(kx, to_right), mesh::read(ky, to_top),
                 mesh::read(di), arguments...);
  }
  /// Sets to = M^-1 from, if there is a preconditioner.
  void precondition(Field& from, Field& to);
  /// Fills halos with the adjacent cells, if the deck says so.
  void mirror(Field& field) {
    if (deck.reflective_boundary) reflect(field);
  }

  mesh::Mesh& run;
  const Deck deck;
  const mesh::Block& block;
  const mesh::Box cells;
  const Operator a;
  const mesh::Stencil star = mesh::Stencil::star(2);
  const mesh::Stencil to_right = mesh::Stencil::from_to({0, 0}, {1, 0});
  const mesh::Stencil to_top = mesh::Stencil::from_to({0, 0}, {0, 1});
  Field& field(const char* name, const mesh::Index& more = {}) { return run.data(block, name, shape(more)); }

  Field &density = field("density"), &energy0 = field("energy0"), &energy1 = field("energy1");
  Field &u = field("u"), &u0 = field("u0"), &r = field("r"), &p = field("p"), &w = field("w");
  Field &kx = field("Kx", {1, 0}), &ky = field("Ky", {0, 1}), &di = field("Di");

 private:
  mesh::Shape shape(const mesh::Index& more) const;
  void reflect(Field& field);
  void conduct(Field& conductivity);
  void invert_blocks();
  void precondition_blocks(Field& from, Field& to);

  mesh::Reduction sum_ = run.sum();
  Field *mi_ = nullptr, *cp_ = nullptr, *bfp_ = nullptr;  // of the preconditioner
};

}  // namespace tealeaf
