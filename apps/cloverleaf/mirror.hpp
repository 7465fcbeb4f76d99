#pragma once
// The edges of the domain reflect: halos are filled with what is mirrored there.
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

/// To so many elements beyond the edges. The order of sides and what each of them covers is the original's: corners
/// keep what they got there, which its solutions depend on in the last digits.
void mirror(Fields& fields, std::span<const Mirrored> all, std::int64_t depth);

}  // namespace clover
