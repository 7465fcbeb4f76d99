#include "engine/serve/connections.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "ipc/messages.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

// A client has a few requests out at a time, so never more than a few replies wait for it. One reply may be large, so
// the limit counts only the bytes that still wait when the next reply comes.
constexpr std::size_t kMostUnread = 4 * base::MiB;
// A client that never says what it is would count as a rank that begins. The engine would not end, and would lack a
// descriptor.
constexpr std::uint64_t kFirstFrame_ns = 30'000'000'000;
constexpr std::uint64_t kListener = ~0ULL, kWake = kListener - 1;  // no client has these ids

void make_nonblocking(const os::Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

Connections::Connections(os::Fd listener, Reports& reports, std::function<void(ClientId, const ipc::Frame&)> take)
    : listener_(std::move(listener)),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reports_(reports),
      take_(std::move(take)) {
  make_nonblocking(listener_);
  started_ = wake_fd_ ? base::Status() : base::Status(base::fail(base::errno_error(errno, "eventfd", "engine")));
  if (started_) started_ = readiness_.add(listener_, kListener);
  if (started_) started_ = readiness_.add(wake_fd_, kWake);
  if (started_) started_ = keep_one_back();
}

base::Status Connections::keep_one_back() {
  reserve_ = os::Fd(::fcntl(wake_fd_.get(), F_DUPFD_CLOEXEC, 0));
  return reserve_ ? base::Status() : base::Status(base::fail(base::errno_error(errno, "dup", "engine")));
}

void Connections::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_.get(), &one, sizeof one);
}

void Connections::close() {
  connections_.clear();
  listener_.reset();
}

base::Status Connections::wait(std::optional<std::uint64_t> timeout_ns) {
  if (!newcomers_.empty()) {
    const std::uint64_t now = os::monotonic_ns(), until = newcomers_.front().second;
    timeout_ns = std::min(timeout_ns.value_or(kFirstFrame_ns), until > now ? until - now : 0);
  }
  PERDURE_TRY(const auto events, readiness_.wait(timeout_ns));
  for (const auto& event : events) handle(event);
  lose_who_says_nothing();
  return {};
}

void Connections::handle(const os::Readiness::Event& event) {
  if (event.number == kListener) return accept_all();
  if (event.number == kWake) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(wake_fd_.get(), &count, sizeof count);
    return;
  }
  const auto it = connections_.find(event.number);
  if (it == connections_.end()) return;
  try {
    if (event.writable) push(it->first, it->second);
    if (event.readable) receive(it->first, it->second);
  } catch (...) {  // part of its data may be lost, so the client must not wait for an answer
    lose(it->second);
    throw;
  }
}

void Connections::accept_all() {
  for (;;) {
    auto socket = os::accept_from(listener_);
    if (!socket) return turn_away(socket.error());
    if (!*socket) return;
    make_nonblocking(*socket);
    if (!readiness_.add(*socket, next_)) continue;  // as if it had not connected
    newcomers_.emplace_back(next_, os::monotonic_ns() + kFirstFrame_ns);
    connections_[next_++].socket = std::move(*socket);
  }
}

void Connections::lose_who_says_nothing() {
  const std::uint64_t now = os::monotonic_ns();
  for (; !newcomers_.empty() && newcomers_.front().second <= now; newcomers_.pop_front()) {
    const auto it = connections_.find(newcomers_.front().first);
    if (it != connections_.end() && !it->second.heard) lose(it->second);
  }
}

namespace {

// A client first says who it is, and waits for the answer.
void refuse_newcomer(const os::Fd& listener, const base::Error& why) {
  constexpr std::uint64_t kFirst = 1, kPatience_ns = 20'000'000;
  const auto newcomer = os::accept_from(listener);
  if (!newcomer || !*newcomer) return;
  std::array<std::byte, 4096> hello;
  (void)os::receive_some(*newcomer, hello, kPatience_ns);
  std::vector<std::byte> answer;
  ipc::append_reply<ipc::Hello::Reply>(
      answer, kFirst,
      base::fail(
          PERDURE_UNAVAILABLE, "engine", "it accepts no connection: " + why.cause,
          "where it has no descriptor left, raise their limit (ulimit -n) before the program, or perdured, begins",
          true));
  (void)os::send_all(*newcomer, answer);
}

}  // namespace

// The spare descriptor serves to tell the newcomer so, instead of letting it wait for an answer.
void Connections::turn_away(const base::Error& why) {
  reports_.add("the engine accepts no connection: " + why.text());
  if (std::exchange(reserve_, os::Fd())) refuse_newcomer(listener_, why);
  // Another thread may have taken the descriptor. Then newcomers stay in the backlog, and a pause keeps the loop from
  // spinning.
  if (!keep_one_back()) os::sleep_ns(10'000'000);
}

// Takes one block at a time. Otherwise a client that sends faster than it is read would keep all others waiting, and
// fill the memory.
void Connections::receive(ClientId id, Connection& connection) {
  std::array<std::byte, 65536> bytes;
  const ssize_t got = ::recv(connection.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return;  // the event is reported again
  if (got <= 0) return lose(connection);
  connection.decoder.feed(base::ConstByteSpan(bytes).first(static_cast<std::size_t>(got)));
  while (!connection.lost) {
    const auto frame = connection.decoder.next();
    if (!frame) {
      reports_.add("a connection sent what is no message and was closed: " + frame.error().cause);
      return lose(connection);
    }
    if (!frame->has_value()) return;
    connection.heard = true;
    take_(id, **frame);
  }
}

Connections::Connection* Connections::writable(ClientId id) {
  const auto it = connections_.find(id);
  if (it == connections_.end() || it->second.lost) return nullptr;
  if (it->second.outbox.size() <= kMostUnread) return &it->second;
  reports_.add("a connection did not read its replies and was closed: " + std::to_string(it->second.outbox.size()) +
               " bytes waited for it");
  lose(it->second);
  return nullptr;
}

// The rest follows when the socket can be written again.
void Connections::push(ClientId id, Connection& connection) {
  auto& outbox = connection.outbox;
  std::size_t done = 0;
  while (done < outbox.size()) {
    const ssize_t sent =
        ::send(connection.socket.get(), outbox.data() + done, outbox.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) lose(connection);
      break;
    }
    done += static_cast<std::size_t>(sent);
  }
  outbox.erase(outbox.begin(), outbox.begin() + static_cast<std::ptrdiff_t>(done));
  const bool unsent = !outbox.empty();
  if (!unsent && outbox.capacity() > 4096) std::vector<std::byte>().swap(outbox);
  using Interest = os::Readiness::Interest;
  if (std::exchange(connection.unsent, unsent) != unsent)
    readiness_.change(connection.socket, id, unsent ? Interest::read_and_write : Interest::read);
}

void Connections::lose(ClientId id) {
  if (const auto it = connections_.find(id); it != connections_.end()) lose(it->second);
}

void Connections::drop_lost(std::vector<ClientId>& dropped) {
  if (!some_lost_) return;
  const auto lost =
      std::count_if(connections_.begin(), connections_.end(), [](const auto& c) { return c.second.lost; });
  dropped.reserve(dropped.size() + static_cast<std::size_t>(lost));
  some_lost_ = false;
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (!it->second.lost) {
      ++it;
      continue;
    }
    dropped.push_back(it->first);
    readiness_.remove(it->second.socket);
    it = connections_.erase(it);
  }
}

bool Connections::has(ClientId id) const {
  const auto it = connections_.find(id);
  return it != connections_.end() && !it->second.lost;
}

}  // namespace perdure::engine
