#pragma once
// Keeps transfers that the wire has not reported yet, and buffers for the next ones. Thread-safe.
#include <mutex>
#include <unordered_map>
#include <vector>

#include "network/peer.hpp"

namespace perdure::network {

class TransferTable {
 public:
  explicit TransferTable(std::size_t most_free_buffers) : most_free_(most_free_buffers) {}
  /// Returns the token by which the wire will name it.
  std::uint64_t add(std::shared_ptr<Transfer> transfer) {
    const std::lock_guard lock(mutex_);
    transfers_[next_token_] = std::move(transfer);
    return next_token_++;
  }
  /// Returns nullptr if there is none, or it was taken before.
  std::shared_ptr<Transfer> take(std::uint64_t token) {
    const std::lock_guard lock(mutex_);
    const auto node = transfers_.extract(token);
    return node.empty() ? nullptr : node.mapped();
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return transfers_.size();
  }
  /// Returns nullptr if none is free.
  WireBufferPointer take_buffer() {
    const std::lock_guard lock(mutex_);
    if (free_buffers_.empty()) return nullptr;
    auto buffer = std::move(free_buffers_.back());
    free_buffers_.pop_back();
    return buffer;
  }
  void give_buffer(WireBufferPointer buffer) {
    const std::lock_guard lock(mutex_);
    if (free_buffers_.size() < most_free_) free_buffers_.push_back(std::move(buffer));
  }
  /// Wire buffers have to go before the wire.
  void clear() {
    const std::lock_guard lock(mutex_);
    free_buffers_.clear();
    transfers_.clear();
  }

 private:
  const std::size_t most_free_;
  mutable std::mutex mutex_;
  std::uint64_t next_token_ = 1;
  std::unordered_map<std::uint64_t, std::shared_ptr<Transfer>> transfers_;
  std::vector<WireBufferPointer> free_buffers_;
};

}  // namespace perdure::network
