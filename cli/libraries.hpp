#pragma once
// A verb parses, and calls these two libraries: their names are used without qualification in cli.
namespace perdure::inspect {}
namespace perdure::launch {}

namespace perdure::cli {
using namespace inspect;
using namespace launch;
}  // namespace perdure::cli
