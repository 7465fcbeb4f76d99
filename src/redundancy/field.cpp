#include "redundancy/field.hpp"

#include <array>

namespace perdure::redundancy {
namespace {

struct Logarithms {
  std::array<Symbol, 510> power{};  // of the generator 2; twice over, so that sums of two logarithms need no modulo
  std::array<Symbol, 256> log{};
};

constexpr Logarithms logarithms() {
  Logarithms tables;
  unsigned value = 1;
  for (unsigned i = 0; i < 255; ++i) {
    tables.power[i] = tables.power[i + 255] = static_cast<Symbol>(value);
    tables.log[value] = static_cast<Symbol>(i);
    value = (value << 1U) ^ ((value & 0x80U) != 0 ? 0x11dU : 0);
  }
  return tables;
}

constexpr Logarithms kLogarithms = logarithms();

}  // namespace

Symbol multiply(Symbol a, Symbol b) {
  if (a == 0 || b == 0) return 0;
  return kLogarithms.power[static_cast<std::size_t>(kLogarithms.log[a]) + kLogarithms.log[b]];
}

Symbol inverse(Symbol a) { return a == 0 ? Symbol{0} : kLogarithms.power[255U - kLogarithms.log[a]]; }

Symbol coefficient(unsigned parity, unsigned data) {
  const auto y = static_cast<Symbol>(kMaxParities + data);
  return multiply(y, inverse(static_cast<Symbol>(parity ^ y)));
}

}  // namespace perdure::redundancy
