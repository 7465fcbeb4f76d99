#include "engine/flush/flush_workers.hpp"

namespace perdure::engine {

void FlushWorkers::start() {
  thread_ = std::thread([this] { run(); });
}

void FlushWorkers::notify() {
  {
    const auto ledger = context_.ledger.lock();
    wanted_ = true;
  }
  wake_.notify_all();
}

void FlushWorkers::reevaluate_captures() {
  const auto threads = early_.lock();
  std::erase_if(*threads, [](Early& early) {
    if (early.over) early.thread.join();
    return early.over.load();
  });
  const auto ledger = context_.ledger.lock();
  while (const auto id = context_.stopping ? std::nullopt : ledger->captures.next_write_through()) {
    Early& early = threads->emplace_back();
    early.thread = std::thread([this, id, &early] { run_capture(*id, early); });
  }
}

void FlushWorkers::pause(std::uint64_t delay_ns) {
  auto ledger = context_.ledger.lock();
  ledger.wait_for(wake_, std::chrono::nanoseconds(delay_ns), [this] { return context_.stopping.load(); });
}

void FlushWorkers::stop() {
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::list<Early> early;  // nothing more is added
  {
    const auto threads = early_.lock();
    early.swap(*threads);
  }
  for (Early& one : early)
    if (one.thread.joinable()) one.thread.join();
}

void FlushWorkers::run() {
  FlushActivity::Part part(activity_);
  for (;;) {
    std::optional<segment::VersionId> id;
    {
      auto ledger = context_.ledger.lock();
      ledger.wait(wake_, [this] { return wanted_ || context_.stopping; });
      if (context_.stopping) return;
      id = ledger->flushes.next();
      wanted_ = id.has_value();
      if (id) part.works();
    }
    if (id) {
      work_.flush_committed(*id, part);
    } else {
      work_.clean_leftovers();
      part.rests();
    }
  }
}

void FlushWorkers::run_capture(const segment::VersionId& id, Early& self) {
  FlushActivity::Part part(activity_);
  const auto error = work_.flush_capture(id, part);
  {
    const auto ledger = context_.ledger.lock();
    ledger->captures.write_through_over(id, error);
  }
  if (!context_.stopping) {
    work_.capture_over(id);
    notify();  // to remove what it left, or to try again later
  }
  self.over = true;
}

}  // namespace perdure::engine
