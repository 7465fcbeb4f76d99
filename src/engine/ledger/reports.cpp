#include "engine/ledger/reports.hpp"

#include <ctime>

#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kMaxWaiting = 256;
constexpr std::uint64_t kMaxLogBytes = 4U << 20;

std::string timestamp() {
  const auto seconds = static_cast<std::time_t>(os::wall_clock_ns() / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ ", &parts);
  return text;
}

}  // namespace

base::Status Reports::log_to(const std::string& path) {
  std::lock_guard lock(mutex_);
  PERDURE_TRY(log_, os::File::open(path, os::Open::create));
  PERDURE_TRY(log_end_, log_.size());
  return {};
}

void Reports::add(const std::string& text) {
  std::lock_guard lock(mutex_);
  if (waiting_.size() == kMaxWaiting) {
    waiting_.pop_front();
    ++lost_;
  }
  waiting_.push_back(text);
  ++added_;
  log(text);
}

void Reports::note(const std::string& text) {
  std::lock_guard lock(mutex_);
  log(text);
}

void Reports::log(const std::string& text) {
  if (!log_ || log_end_ > kMaxLogBytes) return;
  const std::string line = timestamp() + text + "\n";
  if (log_.write(log_end_, base::as_bytes(line))) log_end_ += line.size();
}

std::uint64_t Reports::added() const {
  std::lock_guard lock(mutex_);
  return added_;
}

std::optional<std::string> Reports::take() {
  std::lock_guard lock(mutex_);
  if (lost_ > 0) {
    const std::string text = std::to_string(lost_) + " older reports were not taken in time; the engine's log has them";
    lost_ = 0;
    return text;
  }
  if (waiting_.empty()) return std::nullopt;
  std::string text = std::move(waiting_.front());
  waiting_.pop_front();
  return text;
}

}  // namespace perdure::engine
