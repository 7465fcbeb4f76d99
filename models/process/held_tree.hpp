#pragma once
// A process and all that descend from it, whose threads all stand still.
#include <map>
#include <set>

#include "process/proc_lists.hpp"
#include "process/read_image.hpp"
#include "process/tree_image.hpp"

namespace perdure::process {

/// What was seen of each process of a tree that ran, before it was touched.
using SeenTree = std::map<pid_t, SeenFiles>;
/// PERDURE_UNSUPPORTED with all that stands in the way of capturing it with its descendants.
base::Result<SeenTree> look_at_tree(pid_t root, const std::set<int>& left_out);

struct ReadTree {
  TreeImage tree;
  std::vector<std::string> notes;  ///< for people: what was left out, or assumed
  PERDURE_FIELDS(tree, notes)
};

/// As Tracee, of several processes.
class HeldTree {
 public:
  /// Returns when none of them runs any more, those that they made meanwhile included. As Tracee::seize(): when it
  /// fails all go on.
  static base::Result<HeldTree> seize(pid_t root);
  HeldTree(HeldTree&&) = default;
  HeldTree& operator=(HeldTree&&) = default;
  /// As read_image(). Processes that are not in `before` are looked at as by look_at_tree().
  base::Result<ReadTree> read(const DescriptorChoices& choices, const SeenTree& before, bool places = true);
  /// All go on, as by Tracee::release().
  base::Status release();

 private:
  HeldTree() = default;
  base::Status seize_children_of(std::size_t process, bool& any);
  std::vector<pid_t> all() const;

  std::vector<Tracee> processes_;  // parents before their children
  std::vector<pid_t> ended_;
};

}  // namespace perdure::process
