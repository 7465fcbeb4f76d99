#pragma once
// Makes the processes of a tree, each by its parent.
#include <memory>
#include <vector>

#include "process/new_process.hpp"
#include "process/tree_image.hpp"
#include "process/tree_order.hpp"

namespace perdure::process {

/// One thread makes all calls, as for NewProcess.
class NewTree {
 public:
  /// Makes all processes of `tree`, each in its session and group. They stand still; those that had ended are zombies
  /// again. `kin` has the numbers of the tree, or replacements for them. Each process has carried out its `operations`.
  /// On failure none is left.
  static base::Result<NewTree> begin(const TreeImage& tree, const std::vector<Kin>& kin,
                                     const std::vector<Operations>& operations);
  NewTree(NewTree&& other) noexcept;
  NewTree& operator=(NewTree&&) = delete;
  /// Kills them, unless they were released.
  ~NewTree();

  /// The living processes, in the order of the tree.
  NewProcess& process(std::size_t index) { return *processes_[index]; }
  /// Lets all continue where they were captured.
  base::Status release();

 private:
  explicit NewTree(const TreeImage& tree);
  base::Status make_all(const std::vector<Kin>& kin);
  struct Memory;
  base::Status take_step(const Kin& kin, const TreeStep& step, std::size_t parent, const Memory& memory);
  base::Status end_one(std::size_t ended, std::size_t parent, const Memory& memory);
  const ProcessImage& image_of(std::size_t process) const;

  const TreeImage* tree_;
  std::vector<ProcessImage> ended_;  // images of ended processes, with only the fields needed to make them
  std::vector<std::unique_ptr<NewProcess>> processes_;  // ended ones are last; null: not made yet
};

}  // namespace perdure::process
