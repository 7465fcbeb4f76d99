#include "engine/serve/waiting_requests.hpp"

#include <algorithm>
#include <utility>

#include "os/system.hpp"

namespace perdure::engine {
namespace {

// While a request waits, the server looks this often. Time beyond twice of it between two looks does not count as
// waiting.
constexpr std::uint64_t kLookAtLeastNs = 1'000'000'000;

/// Returns the earlier of two times, where 0 is never.
std::uint64_t earlier(std::uint64_t a, std::uint64_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

// A time that cannot be recorded is no reason to leave a request without its answer.
void tell_waited(ServeContext& context, const WaitingRequests::Entry& entry) {
  (void)base::caught("wait", [&]() -> base::Status {
    entry.request->waited(context, static_cast<double>(os::monotonic_ns() - entry.since_ns) * 1e-9);
    return {};
  });
}

}  // namespace

void WaitingRequests::add(ClientId client, std::uint64_t sequence, std::uint64_t timeout_ns,
                          std::unique_ptr<HeldRequest> request) {
  const std::uint64_t now = os::monotonic_ns();
  if (entries_.empty()) looked_ns_ = now;
  const bool in_turn = request->traits().in_turn;
  const std::uint64_t deadline = timeout_ns == 0 || timeout_ns > ~0ULL - now ? 0 : now + timeout_ns;
  entries_.push_back({client, sequence, deadline, now, std::move(request)});
  if (in_turn) ++in_turn_;
}

std::deque<WaitingRequests::Entry>::iterator WaitingRequests::erase(std::deque<Entry>::iterator it) {
  if (it->request->traits().in_turn) --in_turn_;
  return entries_.erase(it);
}

// A job that was suspended (SIGSTOP, a frozen cgroup, a paused machine) sees its clock jump by hours. No rank had a
// chance to free a slot meanwhile, so no deadline has passed.
void WaitingRequests::excuse_suspension(std::uint64_t now_ns) {
  const std::uint64_t passed = now_ns - std::exchange(looked_ns_, now_ns);
  if (passed <= 2 * kLookAtLeastNs) return;
  for (Entry& entry : entries_)
    if (entry.deadline_ns != 0) entry.deadline_ns += passed;
}

void WaitingRequests::reconsider(ServeContext& context) {
  bool refused_in_turn = false;
  const std::uint64_t now = os::monotonic_ns();
  excuse_suspension(now);
  for (auto it = entries_.begin(); it != entries_.end();) {
    const bool timed_out = it->deadline_ns != 0 && now >= it->deadline_ns;
    const bool in_turn = it->request->traits().in_turn;
    const bool overtakes = in_turn && refused_in_turn && !timed_out;
    bool answered = false;
    const base::Status asked = base::caught(it->request->name(), [&]() -> base::Status {
      answered = !overtakes && it->request->answer(context, {it->client, false, timed_out});
      return {};
    });
    if (asked && !answered) {
      refused_in_turn = refused_in_turn || in_turn;
      ++it;
      continue;
    }
    const Entry over = take(it);  // removed first, so that it is never answered twice
    tell_waited(context, over);
    context.connections.send(over.client, [&](std::vector<std::byte>& out) {
      if (asked)
        over.request->append_answer(over.sequence, out);
      else
        over.request->refuse(over.sequence, asked.error(), out);
    });
  }
}

WaitingRequests::Entry WaitingRequests::take(std::deque<Entry>::iterator& it) {
  Entry taken = std::move(*it);
  if (taken.request->traits().in_turn) --in_turn_;
  it = entries_.erase(it);
  return taken;
}

void WaitingRequests::refuse_if(ServeContext& context, const std::function<bool(const Entry&)>& which,
                                const base::Error& error) {
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (!which(*it)) {
      ++it;
      continue;
    }
    const Entry over = take(it);
    tell_waited(context, over);
    context.connections.send(over.client,
                             [&](std::vector<std::byte>& out) { over.request->refuse(over.sequence, error, out); });
  }
}

void WaitingRequests::client_gone(ClientId client) {
  for (auto it = entries_.begin(); it != entries_.end();) it = it->client == client ? erase(it) : std::next(it);
}

std::uint64_t WaitingRequests::next_look_ns(ServeContext& context) const {
  std::uint64_t next = entries_.empty() ? 0 : looked_ns_ + kLookAtLeastNs;
  for (const Entry& entry : entries_) {
    next = earlier(next, entry.deadline_ns);
    next = earlier(next, entry.request->again_ns(context));
  }
  return next;
}

bool WaitingRequests::for_flush() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.request->traits().for_flush; });
}

}  // namespace perdure::engine
