#pragma once
// A communicator that counts the collectives of its rank, for tests.
#include "comm/communicator.hpp"

namespace perdure::comm {

class CountingCommunicator : public Communicator {
 public:
  CountingCommunicator(std::unique_ptr<Communicator> wrapped, unsigned& count)
      : wrapped_(std::move(wrapped)), count_(count) {}
  int rank() const override { return wrapped_->rank(); }
  int size() const override { return wrapped_->size(); }
  base::Status barrier() override { return counted().barrier(); }
  base::Status allreduce(std::span<std::uint64_t> values, Reduce operation) override {
    return counted().allreduce(values, operation);
  }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    return counted().allgather(mine, all);
  }
  base::Status broadcast(base::ByteSpan data, int root) override { return counted().broadcast(data, root); }

 private:
  Communicator& counted() {
    ++count_;
    return *wrapped_;
  }
  std::unique_ptr<Communicator> wrapped_;
  unsigned& count_;
};

}  // namespace perdure::comm
