#pragma once
// Whether a kernel keeps to what its loop says. It runs twice, over two fillings of what it only writes: what is left
// of a filling was not written, and what differs afterwards had read it.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mesh/arguments.hpp"

namespace perdure::mesh {

class CheckedLoop final : public Reach {
 public:
  /// Null pointers among the reductions are passed over.
  CheckedLoop(std::string name, const Box& mine, std::span<const Use> uses,
              std::initializer_list<Reduction*> reductions);
  /// Throws std::runtime_error that names the loop, the data set and the element.
  void run(const std::function<void()>& loop);
  void strays(const Dataset& set, std::int64_t dx, std::int64_t dy, std::int64_t dz) override;

 private:
  /// All of a rank's memory of a data set.
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
