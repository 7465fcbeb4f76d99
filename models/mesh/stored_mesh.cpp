#include "mesh/stored_mesh.hpp"

#include <utility>
#include <vector>

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

automatic::Protection& protect(Mesh& mesh, std::unique_ptr<automatic::CheckpointStore> store,
                               const automatic::Policy& policy, automatic::Protection::Tell tell) {
  std::vector<automatic::StoredSet> sets;
  for (const auto& set : mesh.datasets()) sets.push_back(stored_set(*set));
  auto made = std::make_unique<automatic::Protection>(std::move(sets), std::move(store), policy, std::move(tell),
                                                      mesh.ranks().rank() == 0);
  automatic::Protection& protection = *made;
  if (protection.restarted())
    for (const auto& set : mesh.datasets()) set->ghosts_are_stale();
  mesh.follow(std::move(made));
  return protection;
}

}  // namespace perdure::mesh
