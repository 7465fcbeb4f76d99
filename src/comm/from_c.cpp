// Wraps the group behind a perdure_communicator: MPI's, or a caller's own.
#include "comm/communicator.hpp"
#include "comm/patience.hpp"

namespace perdure::comm {
namespace {

using base::Status;

class FromC : public Communicator {
 public:
  explicit FromC(const perdure_communicator& c) : c_(c) {}
  ~FromC() override {
    if (c_.release != nullptr) c_.release(c_.context);
  }
  FromC(const FromC&) = delete;
  FromC& operator=(const FromC&) = delete;

  int rank() const override { return c_.rank; }
  int size() const override { return c_.size; }
  Status barrier() override { return judge("barrier", c_.barrier(c_.context)); }
  Status allreduce(std::span<std::uint64_t> values, Reduce operation) override {
    if (values.empty()) return {};
    return judge("allreduce", c_.allreduce(c_.context, values.data(), values.size(), number_of(operation)));
  }
  Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override {
    if (all.size() != mine.size() * static_cast<std::size_t>(c_.size))
      return base::fail(PERDURE_INVALID_ARGUMENT, "allgather", "room for a group of another size");
    if (mine.empty()) return {};
    return judge("allgather", c_.allgather(c_.context, mine.data(), mine.size(), all.data()));
  }
  Status broadcast(base::ByteSpan data, int root) override {
    if (root < 0 || root >= c_.size)
      return base::fail(PERDURE_INVALID_ARGUMENT, "broadcast",
                        "rank " + std::to_string(root) + " is not in this group of " + std::to_string(c_.size));
    if (data.empty()) return {};
    return judge("broadcast", c_.broadcast(c_.context, data.data(), data.size(), root));
  }

 private:
  /// Returns the numbers of perdure.h.
  static int number_of(Reduce operation) {
    switch (operation) {
      case Reduce::minimum:
        return 0;
      case Reduce::maximum:
        return 1;
      case Reduce::sum:
        return 2;
    }
    return -1;
  }
  static Status judge(const char* call, int result) {
    if (result == 0) return {};
    try {
      if (const std::string who = Patience::take_end(); !who.empty())
        return base::fail(PERDURE_TIMEOUT, "ranks", who + " within the time that was given",
                          "end this run; all ranks make the same calls, in the same order");
      return base::fail(
          PERDURE_PEER_FAILED, call,
          "the communicator failed with status " + std::to_string(result) + ": another rank may have died",
          "end this run and start it again from its newest checkpoint");
    } catch (const std::bad_alloc&) {  // otherwise it would count as one that works
      return base::fail(base::Error{PERDURE_PEER_FAILED, {}, "group broken", {}, false});
    }
  }

  perdure_communicator c_;
};

}  // namespace

base::Result<std::unique_ptr<Communicator>> make_from_c(const perdure_communicator& c) {
  if (c.size < 1 || c.rank < 0 || c.rank >= c.size)
    return base::fail(PERDURE_INVALID_ARGUMENT, "communicator",
                      "rank " + std::to_string(c.rank) + " of size " + std::to_string(c.size) + " is impossible");
  const char* missing = c.barrier == nullptr     ? "barrier"
                        : c.allreduce == nullptr ? "allreduce"
                        : c.allgather == nullptr ? "allgather"
                        : c.broadcast == nullptr ? "broadcast"
                                                 : nullptr;
  if (missing != nullptr)
    return base::fail(PERDURE_INVALID_ARGUMENT, "communicator", std::string("its function '") + missing + "' is NULL");
  return std::make_unique<FromC>(c);
}

}  // namespace perdure::comm
