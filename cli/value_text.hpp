#pragma once
// Elements and numbers of regions as people and programs read them. Pure.
#include <string>

#include "array/element_type.hpp"
#include "base/json.hpp"
#include "reader/statistics.hpp"

namespace perdure::cli {

/// Reals with as many digits as bring the same number back; complex ones "1+2i", bytes in hexadecimal digits, members
/// as in "{position: [1, 2, 3], id: 4}".
std::string element_text(const array::ElementType& type, base::ConstByteSpan element);
/// Members by name, complex numbers as two. What JSON has no number for is a text: "nan", "inf", "-inf".
base::Json element_json(const array::ElementType& type, base::ConstByteSpan element);

/// Integers whole, others with six digits.
std::string number_text(const reader::Number& number);
base::Json number_json(const reader::Number& number);
base::Json real_json(double value);

}  // namespace perdure::cli
