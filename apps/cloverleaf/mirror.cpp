#include "mirror.hpp"

namespace clover {
namespace {

// Returns the extent along the side. At the ends of z, fluxes across x and y end one element earlier; below y, so does
// the volume flux across z.
std::array<std::int64_t, 2> extent(const Fields& fields, const Mirrored& mirrored, unsigned axis, bool above,
                                   unsigned along, std::int64_t depth) {
  const std::int64_t cells = fields.cell_count(along);
  const bool own_axis = mirrored.kind == Mirrored::Kind::flux && static_cast<int>(along) == mirrored.flips;
  const bool shorter = own_axis && (axis == 2 || (axis == 1 && !above && mirrored.field == fields.volume_flux[2]));
  return {-depth, cells + (shorter ? 0 : mirrored.field->shape().more[along]) + depth};
}

// Layer 1 is next to the edge. Cells are mirrored at the edge. All others are mirrored at the outermost element, even
// in directions in which fluxes lie between edges.
void mirror_layer(Fields& fields, const Mirrored& mirrored, unsigned axis, bool above, std::int64_t layer,
                  std::int64_t depth) {
  Field& field = *mirrored.field;
  const std::int64_t outermost = above ? fields.cell_count(axis) - 1 + field.shape().more[axis] : 0;
  const std::int64_t here = above ? outermost + layer : -layer;
  const std::int64_t distance = mirrored.kind == Mirrored::Kind::cell ? 2 * layer - 1 : 2 * layer;
  Box range;
  range.dimensions = fields.dimensions;
  for (unsigned d = 0; d < fields.dimensions; ++d) {
    const auto [begin, end] = d == axis ? std::array{here, here + 1} : extent(fields, mirrored, axis, above, d, depth);
    range.begin[d] = begin;
    range.end[d] = end;
  }
  Index offset{};
  offset[axis] = above ? -distance : distance;
  const double sign = static_cast<int>(axis) == mirrored.flips ? -1 : 1;
  const Stencil there = Stencil::from_to(offset, offset);
  fields.loop(
      fields.name("mirror " + field.name() + (above ? " above " : " below ") + kAxes[axis]), range,
      [=, dx = offset[0], dy = offset[1], dz = offset[2]](auto& halo, const auto& inner) {
        halo(0) = sign * inner(dx, dy, dz);
      },
      write(field), read(field, there));
}

}  // namespace

Mirrored cell(Field& field) { return {&field, Mirrored::Kind::cell, -1}; }
Mirrored velocity(Field& field, unsigned axis) { return {&field, Mirrored::Kind::node, static_cast<int>(axis)}; }
Mirrored flux(Field& field, unsigned axis) { return {&field, Mirrored::Kind::flux, static_cast<int>(axis)}; }

void mirror(Fields& fields, std::span<const Mirrored> all, std::int64_t depth) {
  static constexpr unsigned kOrder[] = {1, 0, 2};
  for (const Mirrored& mirrored : all)
    for (const unsigned axis : kOrder) {
      if (axis >= fields.dimensions) continue;
      for (const bool above : {false, true})
        for (std::int64_t layer = 1; layer <= depth; ++layer) mirror_layer(fields, mirrored, axis, above, layer, depth);
    }
}

}  // namespace clover
