#pragma once
// Lists the redundancy schemes. A new one is a function that describes it, and its declaration and row in registry.cpp,
// which also enrols it in losses_test.cpp. The function has a file of its own, unless it shares code with other
// schemes.
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

const std::vector<Scheme>& schemes();

/// PERDURE_INVALID_ARGUMENT names the existing schemes.
base::Result<const Scheme*> find_scheme(std::string_view name);

/// Returns positions() of the scheme with this name; for an unknown one the members.
std::size_t positions(std::string_view scheme, std::size_t members);
/// Whether the scheme with this name keeps its redundancy at a server.
bool keeps_at_server(std::string_view scheme);
/// Returns keeps_redundancy() of the scheme with this name; false for an unknown one.
bool keeps_redundancy(std::string_view scheme);

}  // namespace perdure::redundancy
