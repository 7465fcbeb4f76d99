#include "cli/http_server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <map>

#include "os/readiness.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

constexpr std::uint64_t kListenerNumber = 0, kStopNumber = 1, kFirstConnection = 2;
constexpr std::uint64_t kPauseNs = 100'000'000;  // pause when no connection can be taken, for want of descriptors

class HttpServer {
 public:
  HttpServer(const os::Fd& listener, const os::Fd& stop, const std::function<HttpReply(const std::string&)>& answer,
             HttpLimits limits)
      : listener_(listener), stop_(stop), answer_(answer), limits_(std::move(limits)) {}

  base::Status run() {
    PERDURE_CHECK(ready_.add(stop_, kStopNumber));
    PERDURE_CHECK(listen(true));
    for (;;) {
      PERDURE_TRY(const auto events, ready_.wait(patience_left_ns()));
      for (const auto& event : events) {
        if (event.number == kStopNumber) return {};
        if (event.number == kListenerNumber)
          PERDURE_CHECK(accept_all());
        else
          exchange(event);
        if (stopped_) return {};
      }
      drop_late();
      PERDURE_CHECK(listen(connections_.size() < limits_.connections));
    }
  }

 private:
  struct Connection {
    os::Fd socket;
    std::uint64_t until_ns = 0;
    std::string in, out;
    bool answered = false;  // later bytes are not looked at any more
  };
  using Entry = std::map<std::uint64_t, Connection>::iterator;

  base::Status listen(bool wanted) {
    if (std::exchange(listening_, wanted) == wanted) return {};
    if (wanted) return ready_.add(listener_, kListenerNumber);
    ready_.remove(listener_);
    return {};
  }

  base::Status accept_all() {
    while (connections_.size() < limits_.connections) {
      auto socket = os::accept_tcp(listener_);
      if (!socket) {
        os::sleep_ns(kPauseNs);
        return {};
      }
      if (!*socket) return {};
      Connection connection{std::move(*socket), limits_.now_ns() + limits_.patience_ns, {}, {}, false};
      if (!ready_.add(connection.socket, next_)) continue;  // as if it had not come
      connections_.emplace(next_++, std::move(connection));
    }
    return {};
  }

  void exchange(const os::Readiness::Event& event) {
    const Entry entry = connections_.find(event.number);
    if (entry == connections_.end()) return;
    const bool lives = (!event.readable || read(entry)) && write(entry);
    if (!lives) end(entry);
  }

  /// Returns false when the other end is done, or gone.
  bool read(Entry entry) {
    Connection& connection = entry->second;
    std::array<char, 4096> bytes;
    const ssize_t got = ::recv(connection.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0) return !connection.out.empty();  // it has sent everything, and may still want to read
    if (connection.answered) return true;          // the end of a request that was refused: read, or it would be reset
    connection.in.append(bytes.data(), static_cast<std::size_t>(got));
    if (const auto request = parse_http_request(connection.in)) reply(connection, *request);
    return true;
  }

  void reply(Connection& connection, const HttpRequest& request) {
    stopped_ = stopped_ || stop_asked();
    if (stopped_) return;
    const std::uint64_t begun_ns = limits_.now_ns();
    const bool head = request.method == "HEAD";
    HttpReply reply = refusal(request.status);
    if (request.status == 200) reply = head || request.method == "GET" ? answer_(request.path) : refusal(405);
    connection.out = http_text(reply, head);
    connection.in.clear();
    connection.answered = true;
    // The time that an answer took does not count against the other clients.
    const std::uint64_t now = limits_.now_ns();
    for (auto& [number, other] : connections_) other.until_ns += now - begun_ns;
    connection.until_ns = now + limits_.patience_ns;
  }

  bool stop_asked() const {
    pollfd stop{stop_.get(), POLLIN, 0};
    return ::poll(&stop, 1, 0) > 0;
  }

  /// Returns false when the other end is gone.
  bool write(Entry entry) {
    Connection& connection = entry->second;
    while (!connection.out.empty()) {
      const ssize_t sent =
          ::send(connection.socket.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
      if (sent < 0) {
        ready_.change(connection.socket, entry->first, os::Readiness::Interest::read_and_write);
        return true;
      }
      connection.out.erase(0, static_cast<std::size_t>(sent));
      if (!connection.out.empty()) continue;
      ready_.change(connection.socket, entry->first, os::Readiness::Interest::read);
      ::shutdown(connection.socket.get(), SHUT_WR);
    }
    return true;
  }

  void end(Entry entry) {
    ready_.remove(entry->second.socket);
    connections_.erase(entry);
  }

  void drop_late() {
    const std::uint64_t now = limits_.now_ns();
    for (Entry entry = connections_.begin(); entry != connections_.end();) {
      const Entry late = entry++;
      if (late->second.until_ns <= now) end(late);
    }
  }

  /// Empty: no client is connected.
  std::optional<std::uint64_t> patience_left_ns() const {
    std::optional<std::uint64_t> least;
    const std::uint64_t now = limits_.now_ns();
    for (const auto& [number, connection] : connections_) {
      const std::uint64_t left = connection.until_ns > now ? connection.until_ns - now : 0;
      least = std::min(least.value_or(left), left);
    }
    return least;
  }

  const os::Fd& listener_;
  const os::Fd& stop_;
  const std::function<HttpReply(const std::string&)>& answer_;
  HttpLimits limits_;
  os::Readiness ready_;
  bool listening_ = false, stopped_ = false;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_ = kFirstConnection;
};

}  // namespace

base::Status serve_http(const os::Fd& listener, const os::Fd& stop,
                        const std::function<HttpReply(const std::string& path)>& answer, HttpLimits limits) {
  return HttpServer(listener, stop, answer, std::move(limits)).run();
}

const HttpReply& KeptReply::get() {
  if (kept_ && now_ns_() - made_ns_ < keep_ns_) return *kept_;
  kept_ = make_();
  made_ns_ = now_ns_();
  return *kept_;
}

}  // namespace perdure::cli
