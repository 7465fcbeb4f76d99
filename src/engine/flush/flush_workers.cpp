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
  const auto threads = capture_threads_.lock();
  std::erase_if(*threads, [](CaptureThread& thread) {
    if (thread.over) thread.thread.join();
    return thread.over.load();
  });
  const auto ledger = context_.ledger.lock();
  while (const auto id = context_.stopping ? std::nullopt : ledger->captures.next_write_through()) {
    CaptureThread& thread = threads->emplace_back();
    thread.thread = std::thread([this, id, &thread] { run_capture(*id, thread); });
  }
}

void FlushWorkers::pause(std::uint64_t delay_ns) {
  auto ledger = context_.ledger.lock();
  ledger.wait_for(wake_, std::chrono::nanoseconds(delay_ns), [this] { return context_.stopping.load(); });
}

void FlushWorkers::stop() {
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::list<CaptureThread> ended;  // nothing more is added
  {
    const auto threads = capture_threads_.lock();
    ended.swap(*threads);
  }
  for (CaptureThread& one : ended)
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

void FlushWorkers::run_capture(const segment::VersionId& id, CaptureThread& self) {
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
