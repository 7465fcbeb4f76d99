#pragma once
// Tracks one request or reply in fragments: the sent, the acknowledged, and the received ones. Pure.
#include <optional>

#include "network/message.hpp"

namespace perdure::network {

/// Fragments that may be in flight at once; an Ack can describe all of them.
inline constexpr std::uint32_t kFragmentWindow = 32;

class Outgoing {
 public:
  Outgoing(Bytes message, std::uint32_t fragment_bytes);
  /// The payload points into this object only.
  Fragment fragment(CallId call, bool reply, std::uint32_t index) const;
  /// Returns the fragments that the window admits now for the first time.
  std::vector<std::uint32_t> take_new();
  /// Returns the fragments that were sent and not acknowledged.
  std::vector<std::uint32_t> unacknowledged() const;
  /// Takes the content of an Ack; false if it was nothing new.
  bool acknowledge(std::uint32_t first_missing, std::uint64_t later);
  bool complete() const { return base_ == count_; }
  std::size_t bytes() const { return message_.size(); }

 private:
  Bytes message_;
  std::uint32_t fragment_bytes_;
  std::uint32_t count_;
  std::uint32_t base_ = 0;  // the first that is not acknowledged
  std::uint32_t next_ = 0;  // the first that was never sent
  std::vector<bool> acknowledged_;
};

class Incoming {
 public:
  /// Begins the message of this fragment. PERDURE_CORRUPT if it is longer than `limit`.
  static base::Result<Incoming> make(const Fragment& first, std::size_t limit);
  enum class Added { fresh, known, contradicts };
  Added add(const Fragment& fragment);
  bool complete() const { return come_ == count_; }
  bool single() const { return count_ == 1; }
  bool due_for_ack() const { return count_ > 1 && (complete() || come_ % (kFragmentWindow / 4) == 0); }
  Ack state(CallId call, bool reply) const;
  std::size_t bytes() const { return message_.size(); }
  Bytes take() { return std::move(message_); }

 private:
  Bytes message_;
  std::uint32_t fragment_bytes_ = 0;
  std::uint32_t total_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t come_ = 0;
  std::uint32_t first_missing_ = 0;
  std::vector<bool> there_;
};

}  // namespace perdure::network
