#include "mesh/protection.hpp"

#include <cstdio>

#include "automatic/perdure_store.hpp"
#include "mesh/stored_mesh.hpp"

namespace perdure::mesh {

Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy) {
  const bool first = mesh.ranks().rank() == 0;
  return protect(mesh, automatic::perdure_store(handle.native(), policy.name), policy,
                 [first](const std::string& said) {
                   if (first) std::fprintf(stderr, "perdure: %s\n", said.c_str());
                 });
}

}  // namespace perdure::mesh
