#include "ipc/channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <map>

#include "ipc/frame.hpp"
#include "os/system.hpp"

namespace perdure::ipc {
namespace {

base::Error gone() {
  return {
      PERDURE_UNAVAILABLE, "engine", "the connection ended",
      "the next collective call connects again or starts a new engine; data already at the store or in tiers is kept",
      true};
}

}  // namespace

struct Channel::Early {
  std::map<std::uint64_t, std::vector<std::byte>> replies;  // by sequence number
  std::vector<std::byte> taken;                             // the last one that was awaited
};

Channel::Channel() : early_(std::make_unique<Early>()) {}
Channel::Channel(Channel&&) noexcept = default;
Channel& Channel::operator=(Channel&&) noexcept = default;
Channel::~Channel() = default;

base::Result<Channel> Channel::connect(const std::string& socket_path) {
  Channel channel;
  PERDURE_TRY(channel.socket_, os::connect_to(socket_path));
  return channel;
}

base::Result<Channel> Channel::connect_at_once(const std::string& socket_path) {
  Channel channel;
  PERDURE_TRY(channel.socket_, os::connect_at_once(socket_path));
  return channel;
}

base::Status Channel::send(const std::vector<std::byte>& frame) {
  if (!socket_) return base::fail(gone());
  // The engine would refuse it, and end the connection.
  if (frame.size() > kMaxFrame) return base::fail(too_long("message to the engine", frame.size()));
  if (os::send_all(socket_, frame)) return {};
  close();
  return base::fail(gone());
}

base::Result<std::optional<base::ConstByteSpan>> Channel::received_reply() {
  auto frame = decoder_.next();
  if (!frame) {
    close();
    return base::fail(frame.error());
  }
  if (!frame->has_value()) return std::nullopt;
  if ((*frame)->outdated) {
    close();
    return base::fail(PERDURE_UNSUPPORTED, "engine",
                      "it speaks an older protocol than " + std::to_string(kProtocol) + ", that of the client",
                      "use the same release of Perdure for library and perdured");
  }
  return (*frame)->payload;
}

base::Result<base::ConstByteSpan> Channel::next_reply(std::uint64_t timeout_ns) {
  std::array<std::byte, 16384> bytes;
  const std::uint64_t deadline = timeout_ns == 0 ? 0 : os::monotonic_ns() + timeout_ns;
  for (;;) {
    PERDURE_TRY(const auto reply, received_reply());
    if (reply) return *reply;
    const std::uint64_t now = os::monotonic_ns();
    const std::uint64_t left = deadline == 0 ? 0 : (deadline > now ? deadline - now : 1);
    auto got = os::receive_some(socket_, bytes, left);
    if (!got || *got == 0) {
      close();
      if (!got && got.error().code == PERDURE_TIMEOUT)
        return base::fail(PERDURE_TIMEOUT, "engine", "it did not answer in time",
                          "look at the engine's log, see perdure doctor", true);
      return base::fail(gone());
    }
    decoder_.feed(base::ConstByteSpan(bytes).first(*got));
  }
}

base::Result<base::ConstByteSpan> Channel::receive(std::uint64_t sequence, std::uint64_t timeout_ns) {
  if (const auto early = early_->replies.find(sequence); early != early_->replies.end()) {
    early_->taken = std::move(early->second);
    early_->replies.erase(early);
    return base::ConstByteSpan(early_->taken);
  }
  for (;;) {
    if (!socket_) return base::fail(gone());
    PERDURE_TRY(base::ConstByteSpan reply, next_reply(timeout_ns));
    const auto whose = take_sequence(reply);
    if (!whose) {
      close();
      return base::fail(whose.error());
    }
    if (*whose == sequence) return reply;
    early_->replies[*whose].assign(reply.begin(), reply.end());
  }
}

// await() reports an error that ends the connection.
bool Channel::has_reply(std::uint64_t sequence, int within_ms) {
  while (socket_ && !early_->replies.contains(sequence)) {
    const auto received = received_reply();
    if (received && !*received) {
      pollfd readable{socket_.get(), POLLIN, 0};
      if (::poll(&readable, 1, within_ms) <= 0) return false;
    }
    auto reply = received && *received ? base::Result<base::ConstByteSpan>(**received) : next_reply(0);
    if (!reply) break;
    const auto whose = take_sequence(*reply);
    if (!whose) close();
    if (whose) early_->replies[*whose].assign(reply->begin(), reply->end());
  }
  return true;
}

bool Channel::engine_gone() {
  if (!socket_) return true;
  char byte = 0;
  const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))) return false;
  close();
  return true;
}

}  // namespace perdure::ipc
