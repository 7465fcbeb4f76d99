#include "mesh/protection.hpp"

#include <cstdio>

#include "automatic/perdure_store.hpp"

namespace perdure::mesh {

automatic::StoredSet stored_set(const Dataset& set) {
  const Shape& shape = set.shape();
  automatic::StoredSet stored;
  stored.data = {set.name(), set.whole(), set.element_bytes(), shape.scratch};
  stored.type = set.type();
  stored.unit = shape.unit;
  stored.description = shape.description;
  stored.x_first = true;
  if (set.owned().empty()) return stored;
  automatic::Part part{set.owned(), set.address(set.owned().begin), {}};
  for (unsigned d = 0; d < part.box.dimensions; ++d)
    part.strides[d] = set.stride(d) * static_cast<std::int64_t>(set.element_bytes());
  stored.owned.push_back(part);
  return stored;
}

Protection& protect(Mesh& mesh, std::unique_ptr<automatic::CheckpointStore> store, const Policy& policy,
                    Protection::Tell tell) {
  std::vector<automatic::StoredSet> sets;
  for (const auto& set : mesh.datasets()) sets.push_back(stored_set(*set));
  auto made = std::make_unique<Protection>(std::move(sets), std::move(store), policy, std::move(tell),
                                           mesh.ranks().rank() == 0);
  Protection& protection = *made;
  if (protection.restarted())
    for (const auto& set : mesh.datasets()) set->ghosts_are_stale();
  mesh.follow(std::move(made));
  return protection;
}

Protection& protect(Mesh& mesh, perdure::Handle& handle, const Policy& policy) {
  const bool first = mesh.ranks().rank() == 0;
  return protect(mesh, automatic::perdure_store(handle.native(), policy.name), policy,
                 [first](const std::string& said) {
                   if (first) std::fprintf(stderr, "perdure: %s\n", said.c_str());
                 });
}

}  // namespace perdure::mesh
