#pragma once
// Writes elements and numbers of regions for people and programs. Pure.
#include <string>

#include "array/element_type.hpp"
#include "base/json.hpp"
#include "reader/statistics.hpp"

namespace perdure::cli {

/// Writes reals with as many digits as bring the same number back; complex ones as "1+2i", bytes in hexadecimal digits.
/// Members look like "{position: [1, 2, 3], id: 4}".
std::string element_text(const array::ElementType& type, base::ConstByteSpan element);
/// Writes members by name, complex numbers as two. A number that JSON lacks is a text: "nan", "inf", "-inf".
base::Json element_json(const array::ElementType& type, base::ConstByteSpan element);

/// Writes integers whole, others with six digits.
std::string number_text(const reader::Number& number);
base::Json number_json(const reader::Number& number);
base::Json real_json(double value);

}  // namespace perdure::cli
