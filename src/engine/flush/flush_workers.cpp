#include "engine/flush/flush_workers.hpp"

namespace perdure::engine {

base::Status FlushWorkers::start() {
  PERDURE_TRY(thread_, os::Thread::start(
                           "flusher", [this] { run(); },
                           [this](const base::Error& why) {
                             if (context_.stopping) return false;
                             wanted_ = true;
                             work_.thread_failed(why);
                             return true;
                           }));
  return {};
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
  for (;;) {
    std::optional<segment::VersionId> id;
    {
      const auto ledger = context_.ledger.lock();
      if (!context_.stopping) id = ledger->captures.next_write_through();
    }
    if (!id) return;
    const base::Status begun = base::caught(id->text(), [&] { return begin_capture(*threads, *id); });
    if (begun) continue;
    work_.thread_failed(begun.error());
    capture_over(*id, begun.error());
  }
}

base::Status FlushWorkers::begin_capture(std::list<CaptureThread>& threads, const segment::VersionId& id) {
  CaptureThread& thread = threads.emplace_back();
  auto begun = os::Thread::start(
      "write-through flush",
      [this, id, &thread] {
        run_capture(id);
        thread.over = true;
      },
      [this, id, &thread](const base::Error& why) {
        thread.over = true;
        if (context_.stopping) return false;
        {
          const auto ledger = context_.ledger.lock();
          ledger->flushes.interrupted(id);  // committed meanwhile, it is for the queue
        }
        capture_over(id, why);
        work_.thread_failed(why);
        return false;
      });
  if (!begun) {
    threads.pop_back();
    return base::fail(begun.error());
  }
  thread.thread = std::move(*begun);
  return {};
}

void FlushWorkers::pause(std::uint64_t delay_ns) {
  auto ledger = context_.ledger.lock();
  ledger.wait_for(wake_, std::chrono::nanoseconds(delay_ns), [this] { return context_.stopping.load(); });
}

void FlushWorkers::stop() {
  wake_.notify_all();
  thread_.join();
  std::list<CaptureThread> ended;  // nothing more is added
  {
    const auto threads = capture_threads_.lock();
    ended.swap(*threads);
  }
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

void FlushWorkers::run_capture(const segment::VersionId& id) {
  FlushActivity::Part part(activity_);
  capture_over(id, work_.flush_capture(id, part));
}

void FlushWorkers::capture_over(const segment::VersionId& id, const std::optional<base::Error>& error) {
  {
    const auto ledger = context_.ledger.lock();
    ledger->captures.write_through_over(id, error);
  }
  if (context_.stopping) return;
  work_.capture_over(id);
  notify();  // to remove what it left, or to try again later
}

}  // namespace perdure::engine
