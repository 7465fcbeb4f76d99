#include "redundancy/registry.hpp"

#include <string>

namespace perdure::redundancy {

Scheme single(), partner(), buddy(), exclusive_or_parity(), reed_solomon(), parity_server();

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> kSchemes = {
      single(), partner(), buddy(), exclusive_or_parity(), reed_solomon(), parity_server(),
  };
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

std::size_t positions(std::string_view scheme, std::size_t members) {
  const auto found = find_scheme(scheme);
  return found ? positions(**found, members) : members;
}

bool keeps_at_server(std::string_view scheme) { return positions(scheme, 0) > 0; }

bool keeps_redundancy(std::string_view scheme) {
  const auto found = find_scheme(scheme);
  return found && keeps_redundancy(**found);
}

}  // namespace perdure::redundancy
