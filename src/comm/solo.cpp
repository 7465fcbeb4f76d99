// Implements a group of one rank, in which every collective is over at once.
#include <algorithm>

#include "comm/communicator.hpp"

namespace perdure::comm {
namespace {

base::Status check_root(int root) {
  if (root == 0) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, "broadcast",
                    "rank " + std::to_string(root) + " is not in this group of 1");
}

class Solo : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  base::Status barrier() override { return {}; }
  base::Status allreduce(std::span<std::uint64_t> /*values*/, Reduce /*operation*/) override { return {}; }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    if (all.size() != mine.size())
      return base::fail(PERDURE_INVALID_ARGUMENT, "allgather", "room for a group of another size");
    std::copy(mine.begin(), mine.end(), all.begin());
    return {};
  }
  base::Status broadcast(base::ByteSpan /*data*/, int root) override { return check_root(root); }
};

}  // namespace

std::unique_ptr<Communicator> make_solo() { return std::make_unique<Solo>(); }

}  // namespace perdure::comm
