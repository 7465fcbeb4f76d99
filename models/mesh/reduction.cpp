#include "mesh/reduction.hpp"

#include <algorithm>

namespace perdure::mesh {

Reduction::Reduction(Kind kind, int threads, bool exact, int& open)
    : all_open_(&open),
      kind_(kind),
      exact_(exact && kind == Kind::sum),
      value_(start(kind)),
      slots_(static_cast<std::size_t>(threads)) {
  set(value_);
}

double Reduction::start(Kind kind) {
  if (kind == Kind::sum) return 0;
  return kind == Kind::least ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

double Reduction::gathered() {
  Slot& all = slots_[0];
  for (std::size_t i = 1; i < slots_.size(); ++i) {
    const double value = slots_[i].value;
    if (kind_ == Kind::sum) all.value += value;
    if (kind_ == Kind::least) all.value = std::min(all.value, value);
    if (kind_ == Kind::most) all.value = std::max(all.value, value);
    if (!exact_) continue;
    const auto to = all.sum.digits(), from = slots_[i].sum.digits();
    for (std::size_t digit = 0; digit < to.size(); ++digit) to[digit] += from[digit];
  }
  return all.value;
}

void Reduction::open() {
  *all_open_ += is_open_ ? 0 : 1;
  is_open_ = true;
}

void Reduction::close() {
  *all_open_ -= is_open_ ? 1 : 0;
  is_open_ = false;
}

void Reduction::set(double value) {
  close();
  value_ = value;
  for (Slot& slot : slots_) slot = {start(kind_), {}};
}

}  // namespace perdure::mesh
