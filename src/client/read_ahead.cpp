#include "client/read_ahead.hpp"

#include <utility>

namespace perdure::client {

void ReadAhead::read(Reading& reading) {
  reading.outcome.reset();
  if (!reading.spans.empty()) {
    const auto done = image_.read_chunk(reading.chunk, reading.spans);
    if (done)
      reading.outcome.emplace(std::nullopt);
    else
      reading.outcome.emplace(base::fail(done.error()));
    return;
  }
  const auto bytes = image_.take_chunk(reading.chunk, reading.buffer);
  if (bytes)
    reading.outcome.emplace(*bytes);
  else
    reading.outcome.emplace(base::fail(bytes.error()));
}

void ReadAhead::begin(std::size_t chunk, std::vector<capture::MemorySpan> spans, bool aside) {
  last_ = 1 - last_;
  begun_ = true;
  Reading& reading = readings_[last_];
  reading.chunk = chunk;
  reading.spans = std::move(spans);
  reading.outcome.reset();
  if (!aside) return;
  auto begun = os::Thread::start(
      "read ahead", [this, &reading] { read(reading); },
      [&reading](const base::Error& why) {
        reading.outcome.emplace(base::fail(why));
        return false;
      });
  if (begun) thread_ = std::move(*begun);
}

std::optional<std::size_t> ReadAhead::chunk() const {
  return begun_ ? std::optional(readings_[last_].chunk) : std::nullopt;
}

base::Result<std::optional<base::ConstByteSpan>> ReadAhead::take() {
  thread_.join();
  begun_ = false;
  Reading& reading = readings_[last_];
  if (!reading.outcome) read(reading);
  return std::move(*reading.outcome);
}

}  // namespace perdure::client
