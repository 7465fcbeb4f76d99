#pragma once
// Processes in the making that are a tree: each is made by its parent.
#include <memory>
#include <vector>

#include "process/new_process.hpp"
#include "process/tree_image.hpp"
#include "process/tree_order.hpp"

namespace perdure::process {

/// All calls by one thread, as of NewProcess.
class NewTree {
 public:
  /// All of `tree`, each where it belongs, and standing still; those that have ended have. `kin` of all are those of
  /// the tree, or what is to be instead of them. Each has carried out its `operations`. When it fails none is left.
  static base::Result<NewTree> begin(const TreeImage& tree, const std::vector<Kin>& kin,
                                     const std::vector<Operations>& operations);
  NewTree(NewTree&& other) noexcept;
  NewTree& operator=(NewTree&&) = delete;
  /// Kills them, unless they were released.
  ~NewTree();

  /// Those that live, as the tree has them.
  NewProcess& process(std::size_t index) { return *processes_[index]; }
  /// All go on where they were captured.
  base::Status release();

 private:
  explicit NewTree(const TreeImage& tree);
  base::Status make_all(const std::vector<Kin>& kin);
  struct Memory;
  base::Status take_step(const Kin& kin, const TreeStep& step, std::size_t parent, const Memory& memory);
  base::Status end_one(std::size_t ended, std::size_t parent, const Memory& memory);
  const ProcessImage& image_of(std::size_t process) const;

  const TreeImage* tree_;
  std::vector<ProcessImage> ended_;                     // as much of those that have ended as it takes to make them
  std::vector<std::unique_ptr<NewProcess>> processes_;  // those that have ended last; nothing: not made yet
};

}  // namespace perdure::process
