#include <algorithm>

#include "comm/communicator.hpp"

namespace perdure::comm {
namespace {

/// One rank alone: everything is agreed already.
class Solo final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  base::Status barrier() override { return {}; }
  base::Status allreduce(std::span<std::uint64_t>, Reduce) override { return {}; }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    std::copy(mine.begin(), mine.end(), all.begin());
    return {};
  }
  base::Status broadcast(base::ByteSpan, int) override { return {}; }
};

}  // namespace

std::unique_ptr<Communicator> make_solo() { return std::make_unique<Solo>(); }

}  // namespace perdure::comm
