#include "ipc/channel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>

#include "base/json.hpp"
#include "os/system.hpp"

namespace perdure::ipc {
namespace {

constexpr std::uint32_t kFrameMagic = 0x4d524450;  // "PDRM"
struct FrameHeader {
  std::uint32_t magic;
  std::uint32_t length;
};

base::Error gone() {
  return {
      PERDURE_UNAVAILABLE, "engine", "the connection ended",
      "the next collective call connects again or starts a new engine; data already at the store or in tiers is kept",
      true};
}

}  // namespace

std::vector<std::byte> encode_frame(const base::Json& message) {
  const auto payload = base::encode_cbor(message);
  const FrameHeader header{kFrameMagic, static_cast<std::uint32_t>(payload.size())};
  std::vector<std::byte> frame(sizeof header + payload.size());
  std::memcpy(frame.data(), &header, sizeof header);
  std::memcpy(frame.data() + sizeof header, payload.data(), payload.size());
  return frame;
}

void Decoder::feed(base::ConstByteSpan bytes) {
  // A stream that never pauses must not keep what was taken from it.
  if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

base::Result<std::optional<base::Json>> Decoder::next() {
  FrameHeader header{};
  const std::size_t available = buffer_.size() - begin_;
  if (available < sizeof header) return std::optional<base::Json>{};
  std::memcpy(&header, buffer_.data() + begin_, sizeof header);
  if (header.magic != kFrameMagic)
    return base::fail(PERDURE_CORRUPT, "message", "a frame does not begin with the magic number");
  if (header.length > kMaxFrame) return base::fail(PERDURE_CORRUPT, "message", "a frame claims more than 64 MiB");
  if (available - sizeof header < header.length) return std::optional<base::Json>{};
  const base::ConstByteSpan payload(buffer_.data() + begin_ + sizeof header, header.length);
  PERDURE_TRY(auto json, base::decode_cbor(payload, "message"));
  begin_ += sizeof header + header.length;
  if (begin_ == buffer_.size()) {
    // A big message must not hold its memory for ever.
    std::vector<std::byte>().swap(buffer_);
    begin_ = 0;
  }
  return std::optional<base::Json>{std::move(json)};
}

struct Channel::Early {
  std::deque<base::Json> replies;
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

base::Result<std::uint64_t> Channel::post(const Request& request) {
  if (!socket_) return base::fail(gone());
  base::Json message = to_json(request);
  message["seq"] = ++sequence_;
  if (auto sent = os::send_all(socket_, encode_frame(message)); !sent) {
    close();
    return base::fail(gone());
  }
  return sequence_;
}

base::Status Channel::tell(const Request& request) {
  if (auto sent = post(request); !sent) return base::fail(sent.error());
  return {};
}

base::Result<base::Json> Channel::receive(std::uint64_t timeout_ns) {
  std::array<std::byte, 16384> bytes;
  const std::uint64_t deadline = timeout_ns == 0 ? 0 : os::monotonic_ns() + timeout_ns;
  for (;;) {
    auto message = decoder_.next();
    if (!message) {
      close();
      return base::fail(message.error());
    }
    if (message->has_value()) return std::move(**message);
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

base::Result<base::Json> Channel::await(std::uint64_t sequence, std::uint64_t timeout_ns) {
  auto matches = [sequence](const base::Json& json) {
    auto seq = base::get_u64(json, "seq", "reply");
    return seq && *seq == sequence;
  };
  std::deque<base::Json>& early = early_->replies;
  for (;;) {
    auto it = std::find_if(early.begin(), early.end(), matches);
    if (it != early.end()) {
      base::Json reply = std::move(*it);
      early.erase(it);
      return check_reply(std::move(reply));
    }
    if (!socket_) return base::fail(gone());
    PERDURE_TRY(auto reply, receive(timeout_ns));
    early.push_back(std::move(reply));
  }
}

base::Result<base::Json> Channel::call(const Request& request, std::uint64_t timeout_ns) {
  PERDURE_TRY(const std::uint64_t sequence, post(request));
  return await(sequence, timeout_ns);
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
