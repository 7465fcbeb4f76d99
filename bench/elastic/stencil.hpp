#pragma once
// How much longer a stencil runs when it writes its field now and then.
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

/// Writes after every `every` steps, but for the last one, so that the last flush has something to run beside, as the
/// others have. Afterwards, outside of the time, one more output is read back and compared. [collective]
base::Result<nlohmann::json> stencil(const Stencil& settings, const micro::World& world);

}  // namespace perdure::elastic_bench
