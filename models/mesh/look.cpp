#include "mesh/mesh.hpp"

namespace perdure::mesh {

bool Mesh::look(LoopName name, std::span<const Part> parts) {
  if (!follower_) return true;
  accesses_.clear();
  for (const Part& part : parts)
    if (const Box box = intersection(part.range, part.set->whole()); !box.empty())
      accesses_.push_back(track::Access::reads(part.set->id, box));
  return follower_->loop(id_of(name), name.text, accesses_, open_reductions_ == 0);
}

}  // namespace perdure::mesh
