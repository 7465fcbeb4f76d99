// Fills halos: from the neighbours, and mirrored at the edges of the domain.
#include <algorithm>

#include "plain_gas.hpp"

namespace perdure::plain {
namespace {

/// Columns or rows `begin` to before `end` across `axis`, with the halo along the other axis.
struct Strip {
  std::int64_t x_begin, x_end, y_begin, y_end;
};
Strip strip(const Gas& gas, const Array& array, std::size_t axis, std::int64_t begin, std::int64_t end,
            std::int64_t depth) {
  if (axis == 0) return {begin, end, -depth, gas.ny + array.more[1] + depth};
  return {-depth, gas.nx + array.more[0] + depth, begin, end};
}

/// Returns the elements that the neighbour needs, or the ghosts that it fills.
Strip slab(const Gas& gas, const Array& array, std::size_t axis, bool above, bool ghosts, std::int64_t depth) {
  const std::int64_t cells = gas.part.cells[axis], more = array.more[axis];
  const std::int64_t begin = above ? (ghosts ? cells + more : cells - depth) : (ghosts ? -depth : more);
  return strip(gas, array, axis, begin, begin + depth, depth);
}

void exchange(const Gas& gas, const std::vector<Halo>& halos, std::size_t axis, std::int64_t depth) {
  MPI_Request requests[4];
  int count = 0;
  for (const bool above : {false, true}) {
    const int peer = gas.part.neighbour[axis][above ? 1 : 0];
    if (peer < 0) continue;
    auto &out = gas.buffers[above ? 2 : 0], &in = gas.buffers[above ? 3 : 1];
    out.clear();
    std::size_t comes = 0;
    for (const Halo& halo : halos) {
      const Strip from = slab(gas, *halo.array, axis, above, false, depth);
      for (std::int64_t y = from.y_begin; y < from.y_end; ++y)
        out.insert(out.end(), halo.array->row(y) + from.x_begin, halo.array->row(y) + from.x_end);
      comes += static_cast<std::size_t>((from.x_end - from.x_begin) * (from.y_end - from.y_begin));
    }
    in.resize(comes);
    MPI_Irecv(in.data(), static_cast<int>(comes), MPI_DOUBLE, peer, 1, gas.part.communicator, &requests[count++]);
    MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_DOUBLE, peer, 1, gas.part.communicator, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (const bool above : {false, true}) {
    if (gas.part.neighbour[axis][above ? 1 : 0] < 0) continue;
    const double* packed = gas.buffers[above ? 3 : 1].data();
    for (const Halo& halo : halos) {
      const Strip to = slab(gas, *halo.array, axis, above, true, depth);
      for (std::int64_t y = to.y_begin; y < to.y_end; ++y, packed += to.x_end - to.x_begin)
        std::copy_n(packed, to.x_end - to.x_begin, halo.array->row(y) + to.x_begin);
    }
  }
}

void mirror(const Gas& gas, const Halo& halo, std::size_t axis, bool above, std::int64_t depth) {
  const Array& array = *halo.array;
  const double sign = static_cast<int>(axis) == halo.flips ? -1 : 1;
  const std::int64_t outermost = above ? gas.part.cells[axis] - 1 + array.more[axis] : 0;
  for (std::int64_t layer = 1; layer <= depth; ++layer) {
    const std::int64_t distance = halo.kind == Halo::Kind::cell ? 2 * layer - 1 : 2 * layer;
    const std::int64_t here = above ? outermost + layer : -layer, off = above ? -distance : distance;
    const Strip to = strip(gas, array, axis, here, here + 1, depth);
    for (std::int64_t y = to.y_begin; y < to.y_end; ++y) {
      double* out = array.row(y);
      const double* in = axis == 0 ? out + off : array.row(y + off);
#pragma GCC ivdep
      for (std::int64_t x = to.x_begin; x < to.x_end; ++x) out[x] = sign * in[x];
    }
  }
}

}  // namespace

void update(const Gas& gas, const std::vector<Halo>& halos, std::int64_t depth) {
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (gas.part.grid[axis] > 1) exchange(gas, halos, axis, depth);
  for (const Halo& halo : halos)
    for (const std::size_t axis : {1, 0})
      for (const bool above : {false, true})
        if (gas.part.neighbour[axis][above ? 1 : 0] < 0) mirror(gas, halo, axis, above, depth);
}

}  // namespace perdure::plain
