#pragma once
// Counts, for tests, the collectives of its rank and the bytes that it hears in them.
#include "comm/communicator.hpp"

namespace perdure::comm {

class CountingCommunicator : public Communicator {
 public:
  CountingCommunicator(std::unique_ptr<Communicator> wrapped, unsigned& count, std::uint64_t* heard = nullptr)
      : wrapped_(std::move(wrapped)), count_(count), heard_(heard) {}
  int rank() const override { return wrapped_->rank(); }
  int size() const override { return wrapped_->size(); }
  base::Status barrier() override { return counted().barrier(); }
  base::Status allreduce(std::span<std::uint64_t> values, Reduce operation) override {
    return counted(values.size_bytes()).allreduce(values, operation);
  }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    return counted(all.size()).allgather(mine, all);
  }
  base::Status broadcast(base::ByteSpan data, int root) override { return counted(data.size()).broadcast(data, root); }

 private:
  Communicator& counted(std::uint64_t bytes = 0) {
    ++count_;
    if (heard_ != nullptr) *heard_ += bytes;
    return *wrapped_;
  }
  std::unique_ptr<Communicator> wrapped_;
  unsigned& count_;
  std::uint64_t* heard_;
};

}  // namespace perdure::comm
