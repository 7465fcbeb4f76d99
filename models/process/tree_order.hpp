#pragma once
// In which order the processes of a tree are made, so that each of them is in the session and the group that it was in.
// Pure.
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

/// `kin`: parents before their children. A session and a group that nobody of them leads, in which the root is, are
/// those of whoever makes it. PERDURE_UNSUPPORTED: one is in a session or group that it cannot get into again.
base::Result<std::vector<TreeStep>> order_of_tree(const std::vector<Kin>& kin);

}  // namespace perdure::process
