#pragma once
// The family of redundancy schemes. A new one is a file that describes it and a line in registry.cpp, which enrols it
// in losses_test.cpp too.
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::redundancy {

const std::vector<Scheme>& schemes();

/// Error: PERDURE_INVALID_ARGUMENT, which names those there are.
base::Result<const Scheme*> find_scheme(std::string_view name);

Scheme single();
Scheme partner();
Scheme buddy();
Scheme exclusive_or_parity();
Scheme reed_solomon();
Scheme parity_server();

}  // namespace perdure::redundancy
