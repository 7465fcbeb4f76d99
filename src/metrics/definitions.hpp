#pragma once
// Defines every metric that Perdure exports. docs/metrics.md has the same table, and a test compares the two.
#include <span>
#include <string_view>

#include "metrics/histogram.hpp"

namespace perdure::metrics {

struct Definition {
  const char* name;
  Kind kind;
  const char* unit;    ///< empty: a plain number
  const char* labels;  ///< a sample's labels, separated by ", ", without those that name the engine
  const char* help;
};

/// Returns them in the order of the page.
std::span<const Definition> definitions();
/// Returns nullptr if no metric has this name.
const Definition* find_definition(std::string_view name);

/// Collects samples under the definitions' names. A sample without a definition gets no help text, so check() refuses
/// it.
class Collection {
 public:
  void add(std::string_view name, double value, Labels labels = {}) { add(name, {std::move(labels), value, {}}); }
  void add(std::string_view name, std::uint64_t value, Labels labels = {}) {
    add(name, static_cast<double>(value), std::move(labels));
  }
  void add(std::string_view name, const Histogram& histogram) { add(name, {{}, 0, histogram.distribution()}); }
  std::vector<Family> take() { return std::move(families_); }

 private:
  void add(std::string_view name, Sample sample);
  std::vector<Family> families_;
};

}  // namespace perdure::metrics
