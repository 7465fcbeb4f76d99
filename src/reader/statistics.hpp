#pragma once
// Computes statistics of the numbers of a region. Pure.
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "array/element_type.hpp"

namespace perdure::reader {

/// Integers keep their type: a double has 53 bits.
using Number = std::variant<std::int64_t, std::uint64_t, double>;

/// Statistics of all values of one member of the elements.
struct MemberStatistics {
  std::string name;  ///< empty for a type without members; ends with ".real" or ".imaginary" for a complex one
  std::uint64_t values = 0;
  std::uint64_t nans = 0;                   ///< NaNs are excluded from all other statistics
  std::optional<Number> least, most, mean;  ///< none: all values are NaN
};

class Statistics {
 public:
  explicit Statistics(const array::ElementType& type);
  /// Takes whole elements, one behind the other.
  void add(base::ConstByteSpan elements);
  /// Returns those of each member that is not bytes.
  std::vector<MemberStatistics> members() const;

 private:
  /// Numbers of one type: a member, or half of a complex one.
  struct Part {
    std::string name;
    array::Scalar scalar;
    std::uint64_t offset = 0, count = 0, step = 0;
    std::uint64_t values = 0, nans = 0;
    std::optional<Number> least, most;
    long double sum = 0;
  };
  template <class T>
  void add(Part& part, base::ConstByteSpan elements);

  std::uint64_t element_bytes_;
  std::vector<Part> parts_;
};

}  // namespace perdure::reader
