#include "network/transfer.hpp"

#include <algorithm>
#include <cstring>

namespace perdure::network {
namespace {

std::uint32_t fragments_of(std::uint64_t bytes, std::uint64_t fragment_bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + fragment_bytes - 1) / fragment_bytes));
}

}  // namespace

Outgoing::Outgoing(Bytes message, std::uint32_t fragment_bytes)
    : message_(std::move(message)),
      fragment_bytes_(fragment_bytes),
      count_(fragments_of(message_.size(), fragment_bytes)),
      acknowledged_(count_) {}

Fragment Outgoing::fragment(CallId call, bool reply, std::uint32_t index) const {
  const std::size_t begin = std::size_t{index} * fragment_bytes_;
  const std::size_t bytes = std::min<std::size_t>(fragment_bytes_, message_.size() - begin);
  return {call,
          reply,
          static_cast<std::uint32_t>(message_.size()),
          fragment_bytes_,
          index,
          ConstByteSpan(message_).subspan(begin, bytes)};
}

std::vector<std::uint32_t> Outgoing::take_new() {
  std::vector<std::uint32_t> list;
  while (next_ < count_ && next_ - base_ < kFragmentWindow) list.push_back(next_++);
  return list;
}

std::vector<std::uint32_t> Outgoing::unacknowledged() const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = base_; i < next_; ++i)
    if (!acknowledged_[i]) list.push_back(i);
  return list;
}

bool Outgoing::acknowledge(std::uint32_t first_missing, std::uint64_t later) {
  bool news = false;
  auto mark = [&](std::uint32_t index) {
    if (index >= next_ || acknowledged_[index]) return;  // nobody can have a fragment that was never sent
    acknowledged_[index] = true;
    news = true;
  };
  for (std::uint32_t i = base_; i < std::min(first_missing, next_); ++i) mark(i);
  for (std::uint32_t bit = 0; bit < 64 && first_missing < count_; ++bit)
    if ((later >> bit & 1) != 0) mark(first_missing + 1 + bit);
  while (base_ < count_ && acknowledged_[base_]) ++base_;
  return news;
}

base::Result<Incoming> Incoming::make(const Fragment& first, std::size_t limit) {
  if (first.total > limit)
    return base::fail(PERDURE_CORRUPT, "network message", "it claims to be longer than messages may be");
  Incoming incoming;
  incoming.total_ = first.total;
  incoming.fragment_bytes_ = first.fragment_bytes;
  incoming.count_ = fragments_of(first.total, first.fragment_bytes);
  incoming.message_.resize(first.total);
  incoming.there_.resize(incoming.count_);
  return incoming;
}

Incoming::Added Incoming::add(const Fragment& fragment) {
  if (fragment.total != total_ || fragment.fragment_bytes != fragment_bytes_ || fragment.index >= count_)
    return Added::contradicts;
  if (there_[fragment.index]) return Added::known;
  if (!fragment.payload.empty())
    std::memcpy(message_.data() + std::size_t{fragment.index} * fragment_bytes_, fragment.payload.data(),
                fragment.payload.size());
  there_[fragment.index] = true;
  ++come_;
  while (first_missing_ < count_ && there_[first_missing_]) ++first_missing_;
  return Added::fresh;
}

Ack Incoming::state(CallId call, bool reply) const {
  Ack ack{call, reply, false, first_missing_, 0};
  for (std::uint32_t bit = 0; bit < 64; ++bit) {
    const std::uint64_t index = std::uint64_t{first_missing_} + 1 + bit;
    if (index < count_ && there_[index]) ack.later |= std::uint64_t{1} << bit;
  }
  return ack;
}

}  // namespace perdure::network
