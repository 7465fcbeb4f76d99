#include "parity/read_ahead.hpp"

#include <algorithm>

namespace perdure::parity {

ReadAhead::ReadAhead(std::size_t count, std::size_t buffers, std::size_t buffer_bytes, unsigned threads, Fetch fetch)
    : count_(count), fetch_(std::move(fetch)), buffers_(std::min(count, buffers)) {
  for (Buffer& buffer : buffers_) buffer.bytes.resize(buffer_bytes);
  for (std::size_t i = 0; i < std::min<std::size_t>(threads, count); ++i) {
    const auto begun = threads_.start(
        "read ahead", [this] { run(); },
        [this](const base::Error&) {
          const std::lock_guard lock(mutex_);
          return !stopping_;
        });
    if (!begun) break;  // fewer threads, or none: then pieces are read on demand
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  threads_.join();  // waits for them
}

base::Result<base::ConstByteSpan> ReadAhead::next() {
  std::unique_lock lock(mutex_);
  consumed_ = given_;
  changed_.notify_all();
  Buffer& buffer = buffers_[given_ % buffers_.size()];
  if (threads_.empty() && begun_ < count_) fetch(lock);
  changed_.wait(lock, [&] { return buffer.there; });
  buffer.there = false;
  ++given_;
  PERDURE_TRY(const std::size_t bytes, buffer.filled);
  return base::ConstByteSpan(buffer.bytes).first(bytes);
}

void ReadAhead::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || begun_ == count_ || begun_ < consumed_ + buffers_.size(); });
    if (stopping_ || begun_ == count_) return;
    fetch(lock);
  }
}

void ReadAhead::fetch(std::unique_lock<std::mutex>& lock) {
  const std::size_t index = begun_++;
  Buffer& buffer = buffers_[index % buffers_.size()];
  lock.unlock();
  auto filled = base::caught("read ahead", [&] { return fetch_(index, buffer.bytes); });
  lock.lock();
  if (!filled) begun_ = count_;  // the consumer that gets the error asks for no more
  buffer.filled = std::move(filled);
  buffer.there = true;
  changed_.notify_all();
}

}  // namespace perdure::parity
