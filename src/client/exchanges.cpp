#include "client/exchanges.hpp"

#include <algorithm>
#include <array>

#include "client/agreement.hpp"

namespace perdure::client {
namespace {

constexpr std::size_t kMostValues = 4;  // values that go with the question whether all are there

}  // namespace

Exchanges::Exchanges(std::unique_ptr<comm::Communicator>&& wrapped)
    : room_(new std::uint64_t[opening_words(static_cast<std::size_t>(wrapped->size()))]) {
  wrapped_ = std::move(wrapped);
}

// Allocates nothing between this exchange and the one that it announces.
base::Status Exchanges::meet(std::span<std::uint64_t> values) {
  if (state_ == State::left) return lost();
  if (state_ == State::outside) return wrapped_->barrier();
  state_ = State::open;
  std::array<std::uint64_t, 1 + kMostValues> words{};
  std::copy(values.begin(), values.end(), words.begin() + 1);
  PERDURE_CHECK(judged(wrapped_->allreduce(words, comm::Reduce::maximum)));
  if (words[0] != 0) {
    who_ = words[0];
    state_ = State::left;
    return lost();
  }
  std::copy_n(words.begin() + 1, values.size(), values.begin());
  return {};
}

base::Status Exchanges::allreduce(std::span<std::uint64_t> values, comm::Reduce operation) {
  const bool opens = state_ == State::opening;
  if (opens) state_ = State::open;
  if (opens || state_ == State::outside) return judged(wrapped_->allreduce(values, operation));
  if (operation == comm::Reduce::maximum && values.size() <= kMostValues) return meet(values);
  PERDURE_CHECK(meet({}));
  return judged(wrapped_->allreduce(values, operation));
}

base::Status Exchanges::allgather(base::ConstByteSpan mine, base::ByteSpan all) {
  if (state_ != State::outside) PERDURE_CHECK(meet({}));
  return judged(wrapped_->allgather(mine, all));
}

base::Status Exchanges::broadcast(base::ByteSpan data, int root) {
  if (state_ != State::outside) PERDURE_CHECK(meet({}));
  return judged(wrapped_->broadcast(data, root));
}

// A broken group may never answer again: the call makes no more exchanges.
base::Status Exchanges::judged(base::Status exchanged) {
  if (exchanged || state_ == State::outside) return exchanged;
  who_ = 0;
  state_ = State::left;
  return exchanged;
}

base::Status Exchanges::lost() const {
  if (who_ == 0) return base::fail(PERDURE_PEER_FAILED, "communicator", "it has failed in this call");
  return base::fail(peer_failed(who_, "perdure"));
}

// All ranks meet once more: ranks that left may be waiting for those that come here without an error.
base::Status Exchanges::end() {
  base::Status met;
  if (state_ != State::outside) met = meet({});
  state_ = State::outside;
  return met;
}

// The others are in their opening, or in an exchange that asks whether all are there. Their answer does not matter, and
// nothing here needs memory.
void Exchanges::leave(base::ErrorCode why) noexcept {
  const State state = std::exchange(state_, State::outside);
  if (state == State::outside || state == State::left) return;
  try {
    if (state == State::opening) (void)refuse_opening(*wrapped_, why, {room_.get(), opening_words(leaders_)});
    std::array<std::uint64_t, 1 + kMostValues> words{failure_word(wrapped_->rank(), why)};
    (void)wrapped_->allreduce(words, comm::Reduce::maximum);
  } catch (...) {  // the communicator fails: nobody can be told anything
  }
}

}  // namespace perdure::client
