#pragma once
// Frames on a stream: magic, length, CBOR. Decoder for the engine's non-blocking side, Channel for a client's blocking
// calls.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ipc/messages.hpp"
#include "os/socket.hpp"

namespace perdure::ipc {

inline constexpr std::uint32_t kMaxFrame = 64U << 20;

std::vector<std::byte> encode_frame(const base::Json& message);

/// Collects bytes and gives whole messages. After an error the stream is unusable.
class Decoder {
 public:
  void feed(base::ConstByteSpan bytes);
  /// The next whole message; nothing when more bytes are needed.
  base::Result<std::optional<base::Json>> next();

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
};

/// A client's connection to an engine. One thread at a time. After PERDURE_UNAVAILABLE the connection is gone.
class Channel {
 public:
  Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();
  static base::Result<Channel> connect(const std::string& socket_path);
  static base::Result<Channel> connect_at_once(const std::string& socket_path);  ///< as os::connect_at_once()
  /// Sends a request without waiting; returns its sequence number.
  base::Result<std::uint64_t> post(const Request& request);
  /// Sends a request that has no reply.
  base::Status tell(const Request& request);
  /// The reply to a posted request, or the error it carries. PERDURE_TIMEOUT after `timeout_ns` (0: no limit): then the
  /// connection is closed, because the reply could come later.
  base::Result<base::Json> await(std::uint64_t sequence, std::uint64_t timeout_ns = 0);
  base::Result<base::Json> call(const Request& request, std::uint64_t timeout_ns = 0);
  bool connected() const { return static_cast<bool>(socket_); }
  /// True when the engine has closed its end; costs one system call.
  bool engine_gone();
  void close() { socket_.reset(); }

 private:
  base::Result<base::Json> receive(std::uint64_t timeout_ns);
  os::Fd socket_;
  Decoder decoder_;
  std::uint64_t sequence_ = 0;
  struct Early;  // replies that came before they were awaited
  std::unique_ptr<Early> early_;
};

}  // namespace perdure::ipc
