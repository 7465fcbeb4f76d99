#pragma once
// Holds a process and all its descendants: all their threads stand still.
#include <map>
#include <set>

#include "process/proc_lists.hpp"
#include "process/read_image.hpp"
#include "process/tree_image.hpp"

namespace perdure::process {

/// The open files of each process of a tree, seen while the tree still ran untouched.
using SeenTree = std::map<pid_t, SeenFiles>;
/// PERDURE_UNSUPPORTED: lists all obstacles to capturing it with its descendants.
base::Result<SeenTree> look_at_tree(pid_t root, const std::set<int>& left_out);

struct ReadTree {
  TreeImage tree;
  std::vector<std::string> notes;  ///< for people: omissions and assumptions
  PERDURE_FIELDS(tree, notes)
};

/// As Tracee, for several processes.
class HeldTree {
 public:
  /// Returns when all of them stand still, also children that they made meanwhile. If it fails, all continue, as with
  /// Tracee::seize().
  static base::Result<HeldTree> seize(pid_t root);
  HeldTree(HeldTree&&) = default;
  HeldTree& operator=(HeldTree&&) = default;
  /// As read_image(). For processes that are not in `before`, it first looks for obstacles as look_at_tree() does.
  base::Result<ReadTree> read(const DescriptorChoices& choices, const SeenTree& before, bool places = true);
  /// Lets all continue, as Tracee::release() does.
  base::Status release();

 private:
  HeldTree() = default;
  base::Status seize_children_of(std::size_t process, bool& any);
  std::vector<pid_t> all() const;

  std::vector<Tracee> processes_;  // parents before their children
  std::vector<pid_t> ended_;
};

}  // namespace perdure::process
