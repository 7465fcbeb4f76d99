// All streams progress equally, so it suffices to count how far (`served_`). A stream that starts at served_ = v is
// done at v plus its bytes. Between two events the rate is constant.
#include "device/shared_device.hpp"

#include <cmath>
#include <functional>
#include <limits>

namespace perdure::device {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr unsigned kMaxTabulated = 1024;

std::vector<double> tabulate(const Curve& curve) {
  const auto last = static_cast<unsigned>(std::clamp(std::ceil(curve.points().back().count), 1.0, 1.0 * kMaxTabulated));
  std::vector<double> table;
  for (unsigned k = 1; k <= last; ++k) table.push_back(curve.at(k));
  return table;
}

}  // namespace

SharedDevice::SharedDevice(const Device& description, std::uint64_t seed)
    : throughput_(tabulate(description.throughput)),
      latency_s_(description.latency_s),
      variability_(description.variability) {
  variability_.seed ^= seed;
  refresh_rate();
}

void SharedDevice::refresh_rate() {
  const std::size_t k = std::clamp<std::size_t>(active_.size(), 1, throughput_.size());
  rate_ = std::min(throughput_[k - 1] * variability_.factor(now_s_), limit_);
  change_s_ = variability_.next_change(now_s_);
}

double SharedDevice::first_end_s() const {
  if (active_.empty()) return kNever;
  return now_s_ + std::max(active_.front().end - served_, 0.0) / stream_rate();
}

double SharedDevice::step_end_s() const {
  double next = first_end_s();
  if (!arriving_.empty()) next = std::min(next, arriving_.front().time_s);
  if (!active_.empty()) next = std::min(next, change_s_);
  return next;
}

void SharedDevice::begin(const Arriving& arriving) {
  if (active_.empty()) served_ = 0;  // small numbers keep it exact
  active_.push_back({served_ + arriving.bytes, arriving.stream});
  std::push_heap(active_.begin(), active_.end(), std::greater<>());
}

void SharedDevice::end_first() {
  completed_.push_back({active_.front().stream, now_s_});
  served_ = std::max(served_, active_.front().end);
  std::pop_heap(active_.begin(), active_.end(), std::greater<>());
  active_.pop_back();
}

void SharedDevice::advance(double now_s) {
  while (now_s > now_s_ || step_end_s() <= now_s_) {
    const bool ends = first_end_s() <= std::min(step_end_s(), now_s);
    const double until = std::max(std::min(step_end_s(), now_s), now_s_);
    if (!ends && !active_.empty()) served_ += (until - now_s_) * stream_rate();
    now_s_ = until;
    if (ends) end_first();
    while (!arriving_.empty() && arriving_.front().time_s <= now_s_) {
      begin(arriving_.front());
      arriving_.pop_front();
    }
    refresh_rate();
  }
}

StreamId SharedDevice::start(double now_s, double bytes) {
  advance(now_s);
  const Arriving arriving{now_s_ + latency_s_, next_++, std::max(bytes, 1.0)};
  if (latency_s_ > 0) {
    arriving_.push_back(arriving);
  } else {
    begin(arriving);
    refresh_rate();
  }
  return arriving.stream;
}

bool SharedDevice::cancel(double now_s, StreamId stream) {
  advance(now_s);
  const bool found = std::erase_if(arriving_, [&](const Arriving& a) { return a.stream == stream; }) +
                         std::erase_if(active_, [&](const Active& a) { return a.stream == stream; }) >
                     0;
  std::make_heap(active_.begin(), active_.end(), std::greater<>());
  refresh_rate();
  return found;
}

void SharedDevice::limit(double now_s, double bytes_per_s) {
  advance(now_s);
  limit_ = std::max(bytes_per_s, 1.0);
  refresh_rate();
}

std::vector<Completion> SharedDevice::take_completed() { return std::exchange(completed_, {}); }

std::optional<double> SharedDevice::next_event() const {
  if (!completed_.empty()) return now_s_;
  const double next = step_end_s();
  return next < kNever ? std::optional(next) : std::nullopt;
}

}  // namespace perdure::device
