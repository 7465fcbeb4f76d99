#include "client/read_ahead.hpp"

#include <utility>

namespace perdure::client {

void ReadAhead::read(Reading& reading) {
  if (reading.spans.empty()) {
    reading.buffer.resize(image_.piece().chunks[reading.chunk].length);
    reading.outcome = image_.read_chunk(reading.chunk, {{reading.buffer.data(), reading.buffer.size()}});
  } else {
    reading.outcome = image_.read_chunk(reading.chunk, reading.spans);
  }
}

// If the thread fails for want of memory, take() tries once more.
void ReadAhead::begin(std::size_t chunk, std::vector<capture::MemorySpan> spans, bool aside) {
  last_ = 1 - last_;
  begun_ = true;
  Reading& reading = readings_[last_];
  reading.chunk = chunk;
  reading.spans = std::move(spans);
  reading.outcome.reset();
  if (!aside) return;
  auto begun = os::Thread::start(
      "read ahead", [this, &reading] { read(reading); }, [](const base::Error&) { return false; });
  if (begun) thread_ = std::move(*begun);
}

std::optional<std::size_t> ReadAhead::chunk() const {
  return begun_ ? std::optional(readings_[last_].chunk) : std::nullopt;
}

base::Result<base::ConstByteSpan> ReadAhead::take() {
  thread_.join();
  begun_ = false;
  Reading& reading = readings_[last_];
  if (!reading.outcome) read(reading);
  PERDURE_CHECK(*reading.outcome);
  return reading.spans.empty() ? base::ConstByteSpan(reading.buffer) : base::ConstByteSpan();
}

}  // namespace perdure::client
