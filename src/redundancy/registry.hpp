#pragma once
// The family of redundancy schemes. A new one is a file that describes it, and its declaration and row in
// registry.cpp, which enrols it in losses_test.cpp too.
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

const std::vector<Scheme>& schemes();

/// Error: PERDURE_INVALID_ARGUMENT, which names those there are.
base::Result<const Scheme*> find_scheme(std::string_view name);

/// positions() of the scheme with this name; of an unknown one the members.
std::size_t positions(std::string_view scheme, std::size_t members);
/// Whether the scheme with this name keeps what it keeps at a server.
bool keeps_at_server(std::string_view scheme);
/// keeps_redundancy() of the scheme with this name; of an unknown one false.
bool keeps_redundancy(std::string_view scheme);

}  // namespace perdure::redundancy
