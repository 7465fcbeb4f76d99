#include "comm/communicator.hpp"

namespace perdure::comm {
namespace {

base::Status checked(int result, const char* call) {
  if (result == 0) return {};
  return base::fail(PERDURE_PEER_FAILED, "communicator", std::string(call) + " failed with " + std::to_string(result),
                    "the group of ranks is broken; end the program and start it again");
}

/// The caller's functions behind our interface; released once, when the handle ends.
class FromC final : public Communicator {
 public:
  explicit FromC(const perdure_communicator& c) : c_(c) {}
  ~FromC() override {
    if (c_.release != nullptr) c_.release(c_.context);
  }
  FromC(const FromC&) = delete;
  FromC& operator=(const FromC&) = delete;
  int rank() const override { return c_.rank; }
  int size() const override { return c_.size; }
  base::Status barrier() override { return checked(c_.barrier(c_.context), "barrier"); }
  base::Status allreduce(std::span<std::uint64_t> values, Reduce operation) override {
    return checked(c_.allreduce(c_.context, values.data(), values.size(), static_cast<int>(operation)), "allreduce");
  }
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    if (all.size() != mine.size() * static_cast<std::size_t>(c_.size))
      return base::fail(PERDURE_INTERNAL, "communicator", "the room for allgather has the wrong size");
    return checked(c_.allgather(c_.context, mine.data(), mine.size(), all.data()), "allgather");
  }
  base::Status broadcast(base::ByteSpan data, int root) override {
    return checked(c_.broadcast(c_.context, data.data(), data.size(), root), "broadcast");
  }

 private:
  perdure_communicator c_;
};

}  // namespace

base::Result<std::unique_ptr<Communicator>> make_from_c(const perdure_communicator& c) {
  if (c.size < 1 || c.rank < 0 || c.rank >= c.size)
    return base::fail(PERDURE_INVALID_ARGUMENT, "communicator",
                      "rank " + std::to_string(c.rank) + " of " + std::to_string(c.size) + " is impossible");
  if (c.barrier == nullptr || c.allreduce == nullptr || c.allgather == nullptr || c.broadcast == nullptr)
    return base::fail(PERDURE_INVALID_ARGUMENT, "communicator", "one of its functions is null");
  return std::unique_ptr<Communicator>(std::make_unique<FromC>(c));
}

}  // namespace perdure::comm
