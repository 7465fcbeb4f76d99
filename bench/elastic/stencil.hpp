#pragma once
// Measures how much longer a stencil runs if it writes its field now and then.
#include <nlohmann/json_fwd.hpp>

#include "job.hpp"
#include "world.hpp"

namespace perdure::elastic_bench {

struct Stencil {
  Places places;
  std::string output = "none";
  std::uint64_t rows = 1024, columns = 1024;
  int steps = 40, every = 10;
};

/// Writes after every `every` steps except the last one, so that the last flush also runs beside computation.
/// Afterwards, outside of the time, it reads back one more output and compares it. [collective]
base::Result<nlohmann::json> stencil(const Stencil& settings, const micro::World& world);

}  // namespace perdure::elastic_bench
