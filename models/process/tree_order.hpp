#pragma once
// Orders the making of a tree's processes, so that each gets into its old session and group. Pure.
#include "process/tree_image.hpp"

namespace perdure::process {

struct TreeStep {
  enum class What : std::uint8_t {
    make,          ///< by its parent
    lead_session,  ///< setsid
    lead_group,    ///< setpgid with its own number
    join_group     ///< setpgid
  };
  What what = What::make;
  std::size_t process = 0;  ///< index
  friend bool operator==(const TreeStep&, const TreeStep&) = default;
};

/// `kin` has parents before their children. If no process leads the root's session or group, the maker's are used.
/// PERDURE_UNSUPPORTED: a process cannot get into its session or group again.
base::Result<std::vector<TreeStep>> order_of_tree(const std::vector<Kin>& kin);

}  // namespace perdure::process
