#pragma once
// These are the exchanges of a collective call. Ranks must make the same ones in the same order, even if one of them
// cannot go on, such as for want of memory. It then leaves the call. All others hear of it at their next exchange and
// leave the call too. (docs/adr/0035)
#include <cstdint>
#include <memory>
#include <utility>

#include "comm/communicator.hpp"

namespace perdure::client {

/// A communicator for one job. Within call(), a small exchange before each exchange says whether all ranks are still
/// there. Two kinds need none: the first of a call, which is an opening (agreement.hpp), and agreements, which say it
/// themselves. Outside of call() it adds nothing.
class Exchanges : public comm::Communicator {
 public:
  /// Allocates the memory for the worst case here; if that fails, `wrapped` stays the caller's.
  explicit Exchanges(std::unique_ptr<comm::Communicator>&& wrapped);
  int rank() const override { return wrapped_->rank(); }
  int size() const override { return wrapped_->size(); }
  base::Status barrier() override { return meet({}); }
  base::Status allreduce(std::span<std::uint64_t> values, comm::Reduce operation) override;
  base::Status allgather(base::ConstByteSpan mine, base::ByteSpan all) override;
  base::Status broadcast(base::ByteSpan data, int root) override;

  /// [collective] Runs `body`, which returns a Result. An exception on one rank is an error on all: PERDURE_PEER_FAILED
  /// on those without an error of their own.
  template <class Body>
  auto call(Body body) -> decltype(body()) {
    state_ = State::opening;
    base::Error thrown;
    try {
      auto outcome = body();
      auto others = end();
      if (outcome && !others) return base::fail(std::move(others).error());
      return outcome;
    } catch (const std::exception& exception) {
      thrown = base::exception_error(exception, "perdure");
    } catch (...) {
      thrown = base::unknown_exception_error("perdure");
    }
    leave(thrown.code);
    return base::fail(std::move(thrown));
  }
  /// Says that the call under way makes no more exchanges, on any rank: failures from now on are this rank's alone. It
  /// is for calls that must not cost one more.
  void last() { state_ = State::outside; }
  /// From the next call on, openings are of so many leaders (Opening::leader), instead of none.
  void expect_leaders(std::size_t leaders) { leaders_ = leaders; }

 private:
  enum class State { outside, opening, open, left };
  base::Status meet(std::span<std::uint64_t> values);
  base::Status end();
  void leave(base::ErrorCode why) noexcept;
  base::Status lost() const;
  base::Status judged(base::Status exchanged);

  std::unique_ptr<comm::Communicator> wrapped_;
  std::unique_ptr<std::uint64_t[]> room_;  // for the opening of a call by a rank that has no memory for it
  std::size_t leaders_ = 0;
  State state_ = State::outside;
  std::uint64_t who_ = 0;  // the rank that left the call, and why; 0: the communicator failed
};

}  // namespace perdure::client
