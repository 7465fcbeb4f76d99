#include "engine/server.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/json.hpp"
#include "engine/flusher.hpp"
#include "engine/janitor.hpp"
#include "engine/node_group.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

constexpr std::uint64_t kPatienceNs = 5'000'000'000;  // with retention, at the end
// While somebody waits, the server looks that often. What passes between two looks beyond twice of it was not waited
// for.
constexpr std::uint64_t kLookAtLeastNs = 1'000'000'000;
// A client has a few requests out at a time, so what waits for it is never more than a few replies. One reply may be
// large, so only what waits when the next one comes is judged.
constexpr std::size_t kMostUnread = 4 * base::MiB;
constexpr std::uint64_t kListener = ~0ULL, kWake = kListener - 1;  // no client is called so

void make_nonblocking(const os::Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

/// Of two times, where 0 is never.
std::uint64_t earlier(std::uint64_t a, std::uint64_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

}  // namespace

Server::Server(Core& core, std::mutex& lock, Flusher& flusher, Janitor& janitor, Reports& reports, os::Fd listener,
               ServerOptions options)
    : core_(core),
      lock_(lock),
      flusher_(flusher),
      janitor_(janitor),
      reports_(reports),
      listener_(std::move(listener)),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      options_(std::move(options)),
      idle_since_ns_(os::monotonic_ns()) {
  make_nonblocking(listener_);
  if (auto added = readiness_.add(listener_, kListener); !added) reports_.add(added.error().text());
  if (auto added = readiness_.add(wake_fd_, kWake); !added) reports_.add(added.error().text());
  thread_ = std::thread([this] { run(); });
}

void Server::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
}

void Server::stop() {
  stopping_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
  {
    std::lock_guard guard(over_mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
}

void Server::close() {
  stop();
  clients_.clear();
  listener_.reset();
}

void Server::wait_until_over() {
  std::unique_lock guard(over_mutex_);
  over_changed_.wait(guard, [this] { return over_; });
}

void Server::run() {
  while (!stopping_) {
    const auto events = readiness_.wait(poll_timeout_ns());
    if (!events) {
      reports_.add("the engine listens no more: " + events.error().text());
      break;
    }
    for (const auto& event : *events) handle_event(event);
    drop_dead();
    reconsider_waiting();
    drop_dead();
    if (any_flushed_early()) flusher_.look_at_captures();
    finish_if_idle();
  }
}

void Server::handle_event(const os::Readiness::Event& event) {
  if (event.number == kListener) return accept_all();
  if (event.number == kWake) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &count, sizeof count);
    return;
  }
  const auto it = clients_.find(event.number);
  if (it == clients_.end()) return;
  if (event.writable) push(it->first, it->second);
  if (event.readable) serve(it->first);
}

void Server::accept_all() {
  for (;;) {
    auto socket = os::accept_from(listener_);
    if (!socket) {
      // Out of descriptors: the connection stays in the backlog; a pause keeps the loop from spinning on it.
      os::sleep_ns(10'000'000);
      return;
    }
    if (!*socket) return;
    make_nonblocking(*socket);
    if (!readiness_.add(*socket, next_client_)) continue;  // as if it had not come
    clients_[next_client_++].socket = std::move(*socket);
  }
}

// One block at a time: who sends faster than it is read would keep all others waiting, and fill the memory.
void Server::serve(ClientId id) {
  std::array<std::byte, 65536> bytes;
  Client& client = clients_[id];
  const ssize_t got = ::recv(client.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;  // poll tells again
  if (got <= 0) {
    lose(client);
    return;
  }
  client.decoder.feed(base::ConstByteSpan(bytes).first(static_cast<std::size_t>(got)));
  while (!client.dead) {
    auto message = client.decoder.next();
    if (!message) {
      reports_.add("a connection sent what is no message and was closed: " + message.error().cause);
      lose(client);
      return;
    }
    if (!message->has_value()) return;
    handle(id, **message);
  }
}

void Server::handle(ClientId id, const base::Json& message) {
  auto sequence = base::get_u64(message, "seq", "message");
  auto request = ipc::request_from_json(message);
  Client& client = clients_[id];
  if (!sequence) {
    lose(client);
    return;
  }
  if (!request) return send(id, *sequence, ipc::error_reply(request.error()));
  const bool hello = std::holds_alternative<ipc::Hello>(*request);
  if (!client.greeted && !hello)
    return send(id, *sequence,
                ipc::error_reply({PERDURE_INVALID_ARGUMENT, "message", "the first message is not hello", "", false}));
  std::optional<base::Json> reply = answer(id, *request, false);
  const auto* written = std::get_if<ipc::Written>(&*request);
  const bool told = std::holds_alternative<ipc::Begin>(*request) || std::holds_alternative<ipc::Step>(*request) ||
                    std::holds_alternative<ipc::GiveBack>(*request) ||
                    std::holds_alternative<ipc::Superseded>(*request) ||
                    std::holds_alternative<ipc::Restored>(*request);
  if (told || (written != nullptr && !written->reply)) return;
  if (reply) return send(id, *sequence, std::move(*reply));
  std::uint64_t timeout_ns = 0;
  if (const auto* grant = std::get_if<ipc::Grant>(&*request)) timeout_ns = grant->timeout_ns;
  if (const auto* wait = std::get_if<ipc::WaitStored>(&*request)) timeout_ns = wait->timeout_ns;
  if (const auto* wait = std::get_if<ipc::WaitProtected>(&*request)) timeout_ns = wait->timeout_ns;
  if (const auto* drain = std::get_if<ipc::Drain>(&*request)) timeout_ns = drain->timeout_ns;
  const std::uint64_t now = os::monotonic_ns();
  if (waiting_.empty()) looked_ns_ = now;
  const std::uint64_t deadline = timeout_ns == 0 || timeout_ns > ~0ULL - now ? 0 : now + timeout_ns;
  waiting_.push_back({id, *sequence, deadline, now, std::move(*request)});
}

// A job that was suspended (SIGSTOP, a frozen cgroup, a paused machine) finds its clock hours later. Nobody had a
// chance to free a slot meanwhile, so that nobody's time is over.
void Server::excuse_suspension(std::uint64_t now_ns) {
  const std::uint64_t passed = now_ns - std::exchange(looked_ns_, now_ns);
  if (passed <= 2 * kLookAtLeastNs) return;
  for (Waiting& waiting : waiting_)
    if (waiting.deadline_ns != 0) waiting.deadline_ns += passed;
}

// First come, first served: slots are looked at in order of arrival, and nobody overtakes the first who waits for one.
void Server::reconsider_waiting() {
  bool slot_refused = false;
  const std::uint64_t now = os::monotonic_ns();
  excuse_suspension(now);
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const bool timed_out = it->deadline_ns != 0 && now >= it->deadline_ns;
    const bool grant = std::holds_alternative<ipc::Grant>(it->request);
    if (grant && slot_refused && !timed_out) {
      ++it;
      continue;
    }
    auto reply = answer_waiting(it->client, it->request, timed_out);
    if (!reply) {
      slot_refused = slot_refused || grant;
      ++it;
      continue;
    }
    note_wait(*it);
    send(it->client, it->sequence, std::move(*reply));
    it = waiting_.erase(it);
  }
  // Everything else that waits here waits for flushes.
  const bool wait_for_flush =
      draining_since_ns_ != 0 || std::any_of(waiting_.begin(), waiting_.end(), [](const auto& w) {
        return !std::holds_alternative<ipc::Written>(w.request) &&
               !std::holds_alternative<ipc::WaitProtected>(w.request) &&
               !std::holds_alternative<ipc::Recover>(w.request);
      });
  if (std::exchange(told_waiting_, wait_for_flush) != wait_for_flush) flusher_.somebody_waits(wait_for_flush);
}

void Server::send(ClientId id, std::uint64_t sequence, base::Json reply) {
  auto it = clients_.find(id);
  if (it == clients_.end() || it->second.dead) return;
  if (it->second.outbox.size() > kMostUnread) {
    reports_.add("a connection did not read its replies and was closed: " + std::to_string(it->second.outbox.size()) +
                 " bytes waited for it");
    lose(it->second);
    return;
  }
  reply["seq"] = sequence;
  const auto frame = ipc::encode_frame(reply);
  it->second.outbox.insert(it->second.outbox.end(), frame.begin(), frame.end());
  push(id, it->second);
}

// What the client does not take now follows when it can be written again.
void Server::push(ClientId id, Client& client) {
  while (!client.outbox.empty()) {
    const ssize_t sent =
        ::send(client.socket.get(), client.outbox.data(), client.outbox.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) lose(client);
      break;
    }
    client.outbox.erase(client.outbox.begin(), client.outbox.begin() + sent);
  }
  const bool unsent = !client.outbox.empty();
  if (!unsent) std::vector<std::byte>().swap(client.outbox);
  using Interest = os::Readiness::Interest;
  if (std::exchange(client.unsent, unsent) != unsent)
    readiness_.change(client.socket, id, unsent ? Interest::read_and_write : Interest::read);
}

void Server::lose(Client& client) { client.dead = some_dead_ = true; }

void Server::drop_dead() {
  if (!std::exchange(some_dead_, false)) return;
  for (auto it = clients_.begin(); it != clients_.end();) {
    if (!it->second.dead) {
      ++it;
      continue;
    }
    const ClientId id = it->first;
    std::erase_if(waiting_, [id](const Waiting& waiting) { return waiting.client == id; });
    {
      std::lock_guard guard(lock_);
      core_.client_gone(id, it->second.is_rank() ? std::optional(it->second.rank) : std::nullopt);
    }
    flusher_.look_at_application();
    tell_group_client_gone();
    if (it->second.is_rank())
      idle_since_ns_ = os::monotonic_ns();  // a tool that looks in again and again must not put off the end
    readiness_.remove(it->second.socket);
    it = clients_.erase(it);
  }
}

std::optional<std::uint64_t> Server::poll_timeout_ns() {
  std::uint64_t next = 0;
  for (const auto& waiting : waiting_) {
    next = earlier(next, waiting.deadline_ns);
    if (const auto* written = std::get_if<ipc::Written>(&waiting.request))
      next = earlier(next, look_again_at_ns(*written));
  }
  next = earlier(next, end_at_ns());
  if (!waiting_.empty()) next = earlier(next, looked_ns_ + kLookAtLeastNs);
  if (next == 0) return std::nullopt;
  const std::uint64_t now = os::monotonic_ns();
  return next <= now ? 0 : std::min<std::uint64_t>(next - now, 3'600'000'000'000);
}

// Only for time that has to pass: whoever stops working wakes this thread.
std::uint64_t Server::end_at_ns() {
  const bool may_end = draining_since_ns_ != 0 || options_.idle_exit_ns != 0;
  if (!may_end || told_over_ || !quiet() || somebody_silent()) return 0;
  const std::uint64_t now = os::monotonic_ns(), idle_over_ns = idle_since_ns_ + options_.idle_exit_ns;
  if (draining_since_ns_ == 0 && now < idle_over_ns) return idle_over_ns;
  const std::uint64_t patient_until_ns = std::max(draining_since_ns_, idle_since_ns_) + kPatienceNs;
  return now < patient_until_ns || janitor_.idle() ? patient_until_ns : 0;
}

// A little later than the device says, so that it is over then, in spite of rounding.
std::uint64_t Server::look_again_at_ns(const ipc::Written& written) {
  std::lock_guard guard(lock_);
  const double seconds = core_.look_again_in_s(written);
  return os::monotonic_ns() + static_cast<std::uint64_t>(std::min(seconds, 3600.0) * 1e9) + 1000;
}

bool Server::any_flushed_early() {
  std::lock_guard guard(lock_);
  return core_.any_flushed_early();
}

bool Server::quiet() {
  const bool alone = std::none_of(clients_.begin(), clients_.end(), [](const auto& c) { return c.second.is_rank(); });
  bool pending = false;
  if (alone && flusher_.idle()) {
    std::lock_guard guard(lock_);
    pending = core_.pending_versions() > 0;
  } else {
    pending = true;
  }
  if (!pending) return group_quiet();
  only_group_since_ns_ = 0;
  return false;
}

bool Server::somebody_silent() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& c) { return !c.second.greeted; });
}

// What other nodes have not taken over yet is at hand only here; who does not answer is not waited for much longer.
bool Server::group_quiet() {
  if (options_.group == nullptr || !options_.group->under_way()) return true;
  const std::uint64_t now = os::monotonic_ns();
  if (only_group_since_ns_ == 0) only_group_since_ns_ = now;
  return now >= only_group_since_ns_ + kPatienceNs;
}

void Server::finish_if_idle() {
  const bool idle_over = options_.idle_exit_ns != 0 && os::monotonic_ns() >= idle_since_ns_ + options_.idle_exit_ns;
  if (!quiet()) {
    idle_since_ns_ = os::monotonic_ns();
    return;
  }
  if ((!idle_over && draining_since_ns_ == 0) || somebody_silent()) return;
  // Other nodes may still be writing their part of the newest version; retention waits for them, but not for ever.
  const bool patient = os::monotonic_ns() < std::max(draining_since_ns_, idle_since_ns_) + kPatienceNs;
  if (!janitor_.idle() || (patient && !janitor_.settled())) return;
  told_over_ = true;
  {
    std::lock_guard guard(over_mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
}

}  // namespace perdure::engine
