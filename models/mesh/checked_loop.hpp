#pragma once
// Checks that a kernel keeps to its loop's declaration. It runs the kernel twice, over two different fillings of the
// elements that it only writes. An element that keeps the filling was not written; a result that differs depends on a
// value that the kernel must not read.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mesh/arguments.hpp"

namespace perdure::mesh {

class CheckedLoop final : public Reach {
 public:
  /// Skips null pointers among the reductions.
  CheckedLoop(std::string name, const Box& mine, std::span<const Use> uses,
              std::initializer_list<Reduction*> reductions);
  /// Throws std::runtime_error that names the loop, the data set and the element.
  void run(const std::function<void()>& loop);
  void strays(const Dataset& set, std::int64_t dx, std::int64_t dy, std::int64_t dz) override;

 private:
  /// A copy of all memory that a rank has of a data set.
  struct Copy {
    Dataset* set;
    std::vector<std::byte> before, after;
  };
  [[noreturn]] void refuse(const Dataset& set, const std::string& why) const;
  void put_back();
  void fill(std::byte filling);
  void compare_outside();
  void expect_the_same();

  std::string name_;
  Box mine_;
  std::span<const Use> uses_;
  std::vector<Copy> copies_;
  std::vector<std::pair<Reduction*, Reduction::Slot>> reductions_;
};

}  // namespace perdure::mesh
