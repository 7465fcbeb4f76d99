#include "redundancy/registry.hpp"

#include <string>

namespace perdure::redundancy {

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> kSchemes = {single(),       partner(),      buddy(), exclusive_or_parity(),
                                               reed_solomon(), parity_server()};
  return kSchemes;
}

base::Result<const Scheme*> find_scheme(std::string_view name) {
  std::string known;
  for (const Scheme& scheme : schemes()) {
    if (scheme.name == name) return &scheme;
    known += (known.empty() ? "" : ", ") + std::string(scheme.name);
  }
  return base::fail(PERDURE_INVALID_ARGUMENT, "redundancy scheme '" + std::string(name.substr(0, 100)) + "'",
                    "is not one of " + known);
}

}  // namespace perdure::redundancy
