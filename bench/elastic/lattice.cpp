#include "lattice.hpp"

#include "array/distribution.hpp"

namespace perdure::elastic_bench {

Lattice::Lattice(std::uint64_t rows, std::uint64_t columns, const micro::World& world)
    : whole_{2, {}, {rows, columns}} {
  const auto grid = array::even_grid(whole_, static_cast<std::uint64_t>(world.size()));
  const auto rank = static_cast<std::uint64_t>(world.rank());
  mine_ = array::block(whole_, grid, rank);
  const auto at = grid.coordinates(rank);
  const int across = static_cast<int>(grid.ranks[1]);
  up_ = at[0] > 0 ? world.rank() - across : MPI_PROC_NULL;
  down_ = at[0] + 1 < grid.ranks[0] ? world.rank() + across : MPI_PROC_NULL;
  left_ = at[1] > 0 ? world.rank() - 1 : MPI_PROC_NULL;
  right_ = at[1] + 1 < grid.ranks[1] ? world.rank() + 1 : MPI_PROC_NULL;
  MPI_Type_vector(static_cast<int>(mine_.extent(0)), 1, static_cast<int>(stride()), MPI_DOUBLE, &column_);
  MPI_Type_commit(&column_);
  now_.assign((mine_.extent(0) + 2 * kGhosts) * stride(), 0);
  for (std::uint64_t row = 0; row < mine_.extent(0); ++row)
    for (std::uint64_t column = 0; column < mine_.extent(1); ++column)
      first()[row * stride() + column] =
          static_cast<double>((mine_.begin[0] + row) * columns + mine_.begin[1] + column);
  next_ = now_;
}

Lattice::~Lattice() { MPI_Type_free(&column_); }

void Lattice::exchange() {
  const std::uint64_t rows = mine_.extent(0), columns = mine_.extent(1);
  const int width = static_cast<int>(columns);
  double* top = first();
  double* bottom = first() + (rows - 1) * stride();
  MPI_Sendrecv(top, width, MPI_DOUBLE, up_, 0, bottom + stride(), width, MPI_DOUBLE, down_, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(bottom, width, MPI_DOUBLE, down_, 1, top - stride(), width, MPI_DOUBLE, up_, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(top, 1, column_, left_, 2, top + columns, 1, column_, right_, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(top + columns - 1, 1, column_, right_, 3, top - 1, 1, column_, left_, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void Lattice::step() {
  exchange();
  const std::uint64_t across = stride();
  for (std::uint64_t row = 0; row < mine_.extent(0); ++row) {
    const double* from = now_.data() + (row + kGhosts) * across + kGhosts;
    double* to = next_.data() + (row + kGhosts) * across + kGhosts;
    for (std::uint64_t i = 0; i < mine_.extent(1); ++i)
      to[i] = 0.25 * (from[i - 1] + from[i + 1] + from[i - across] + from[i + across]);
  }
  now_.swap(next_);
}

}  // namespace perdure::elastic_bench
