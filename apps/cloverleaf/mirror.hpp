#pragma once
// Reflects fields at the edges of the domain: halos are filled with mirrored values.
#include <span>

#include "fields.hpp"

namespace clover {

/// How a field is mirrored.
struct Mirrored {
  Field* field;
  enum class Kind { cell, node, flux } kind = Kind::cell;
  int flips = -1;  ///< the axis at whose ends the sign changes: that of the velocity or flux; or none
};

Mirrored cell(Field& field);
Mirrored velocity(Field& field, unsigned axis);
Mirrored flux(Field& field, unsigned axis);

/// Fills `depth` layers beyond the edges. The order and the extent of the sides are the original's. Corners keep values
/// from earlier sides; the original's solutions depend on that in the last digits.
void mirror(Fields& fields, std::span<const Mirrored> all, std::int64_t depth);

}  // namespace clover
