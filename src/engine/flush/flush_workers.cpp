#include "engine/flush/flush_workers.hpp"

#include <algorithm>

#include "engine/ledger/on_their_way.hpp"
#include "os/system.hpp"

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
  {
    const auto ledger = context_.ledger.lock();
    if (context_.stopping || !ledger->captures.any_write_through()) return context_.news.notify_all();
  }
  const base::Status begun = base::caught("flusher", [this] { return begin_leads(); });
  context_.news.notify_all();
  if (begun) return;
  work_.thread_failed(begun.error());
  for (;;) {  // no thread would lead these captures
    std::optional<segment::VersionId> id;
    {
      const auto ledger = context_.ledger.lock();
      id = ledger->captures.next_write_through();
    }
    if (!id) return;
    capture_over(*id, begun.error());
  }
}

// Fails if not one thread could be had.
base::Status FlushWorkers::begin_leads() {
  const auto leads = leads_.lock();
  while (leads->size() < kCaptureLeads) {
    const auto begun = leads->start(
        "write-through flush", [this] { lead(); },
        [this](const base::Error& why) {
          if (context_.stopping) return false;
          work_.thread_failed(why);
          return true;
        });
    if (!begun && leads->empty()) return base::fail(begun.error());
    if (!begun) return {};
  }
  return {};
}

void FlushWorkers::lead() {
  for (;;) {
    CaptureFlush* capture = nullptr;
    {
      auto ledger = context_.ledger.lock();
      while (!context_.stopping && (capture = next_capture(*ledger)) == nullptr) await_capture(ledger);
      if (context_.stopping) return;
    }
    advance(*capture);
  }
}

namespace {

// A capture whose thread is busy has something to do for now.
bool has_work(const CaptureFlush& capture) {
  if (capture.busy) return true;
  if (!capture.flush) return capture.not_before_ns == 0;
  return capture.flush->unplaced() || capture.source->committed();
}

bool may_advance(const CaptureFlush& capture, const NodeState& state) {
  if (capture.busy) return false;
  if (!capture.flush) return os::monotonic_ns() >= capture.not_before_ns;
  if (capture.flush->failed() || capture.source->has_news(state)) return true;
  if (!capture.source->committed()) return false;
  const auto turn = capture.source->turn(state);
  return turn == FlushSource::Turn::gone || (turn == FlushSource::Turn::mine && capture.flush->settled());
}

}  // namespace

// Takes the captures in turn. The calling thread is busy with the returned one from now on.
CaptureFlush* FlushWorkers::next_capture(NodeState& state) {
  const auto captures = captures_.lock();
  for (auto capture = captures->begin(); capture != captures->end(); ++capture) {
    if (!may_advance(*capture, state)) continue;
    capture->busy = true;
    captures->splice(captures->end(), *captures, capture);
    return &*capture;
  }
  const auto at_work = std::count_if(captures->begin(), captures->end(), has_work);
  if (static_cast<std::size_t>(at_work) >= kCapturesAtOnce) return nullptr;
  const auto id = state.captures.next_write_through();
  return id ? &captures->emplace_back(*id, activity_) : nullptr;
}

// Waits until something has changed, or a failed attempt may be retried.
void FlushWorkers::await_capture(Ledger::Access& ledger) {
  std::uint64_t first = UINT64_MAX;
  {
    const auto captures = captures_.lock();
    for (const CaptureFlush& capture : *captures)
      if (!capture.busy && !capture.flush) first = std::min(first, capture.not_before_ns);
  }
  if (first == UINT64_MAX) return ledger.wait(context_.news);
  const std::uint64_t now = os::monotonic_ns();
  ledger.wait_for(context_.news, std::chrono::nanoseconds(first - std::min(first, now)));
}

void FlushWorkers::advance(CaptureFlush& capture) {
  std::optional<CaptureEnd> end;
  base::Status done = base::caught(capture.id, [&]() -> base::Status {
    end = work_.advance_capture(capture);
    return {};
  });
  if (!done) {
    {
      const auto ledger = context_.ledger.lock();
      ledger->flushes.interrupted(capture.id);  // if it was committed meanwhile, the queue takes it
    }
    base::attempt([&] { work_.thread_failed(done.error()); });
    end = CaptureEnd{std::move(done).error()};
  }
  if (end) return end_capture(capture, end->failure);
  const auto captures = captures_.lock();
  capture.busy = false;
}

void FlushWorkers::end_capture(CaptureFlush& capture, const std::optional<base::Error>& error) {
  capture.flush.reset();  // the queue takes what it left
  capture.source.reset();
  Captures ended;  // destroys the capture without the lock
  {
    const auto captures = captures_.lock();
    const auto place =
        std::find_if(captures->begin(), captures->end(), [&](const auto& known) { return &known == &capture; });
    ended.splice(ended.end(), *captures, place);
  }
  const segment::VersionId id = std::move(ended.front().id);
  ended.clear();
  capture_over(id, error);
  context_.news.notify_all();
}

void FlushWorkers::pause(std::uint64_t delay_ns) {
  auto ledger = context_.ledger.lock();
  ledger.wait_for(wake_, std::chrono::nanoseconds(delay_ns), [this] { return context_.stopping.load(); });
}

void FlushWorkers::stop() {
  wake_.notify_all();
  thread_.join();
  os::Threads leads;  // no more threads are begun
  {
    const auto known = leads_.lock();
    std::swap(leads, *known);
  }
  leads.join();
  for (;;) {
    CaptureFlush* left = nullptr;
    {
      const auto captures = captures_.lock();
      if (captures->empty()) return;
      left = &captures->front();
    }
    base::attempt([&] { end_capture(*left, std::nullopt); });  // it leaves the list whatever is thrown
  }
}

void FlushWorkers::run() {
  FlushActivity::Part part(activity_);
  for (;;) {
    std::optional<segment::VersionId> id;
    {
      auto ledger = context_.ledger.lock();
      await_committed(ledger);
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

// Waits until a version is committed, or one that was held back may be flushed.
void FlushWorkers::await_committed(Ledger::Access& ledger) {
  const auto is_wanted = [this] { return wanted_ || context_.stopping; };
  const auto held_back_s = held_back_for_s(*ledger);
  if (!held_back_s) return ledger.wait(wake_, is_wanted);
  (void)ledger.wait_for(wake_, std::chrono::nanoseconds(static_cast<std::uint64_t>(*held_back_s * 1e9) + 1), is_wanted);
}

void FlushWorkers::capture_over(const segment::VersionId& id, const std::optional<base::Error>& error) {
  {
    const auto ledger = context_.ledger.lock();
    ledger->captures.write_through_over(id, error);
  }
  if (context_.stopping) return;
  work_.capture_over(id);
  notify();  // to remove its leftovers, or to retry later
}

}  // namespace perdure::engine
