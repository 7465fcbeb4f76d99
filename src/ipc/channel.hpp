#pragma once
// A client's connection to an engine, through which it makes blocking calls.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ipc/messages.hpp"
#include "os/socket.hpp"

namespace perdure::ipc {

/// A request that was sent; identifies its reply. Converts to false if there is none.
template <class Reply>
struct Posted {
  std::uint64_t sequence = 0;
  explicit operator bool() const { return sequence != 0; }
};

/// Used by one thread at a time. After PERDURE_UNAVAILABLE the connection is closed.
class Channel {
 public:
  Channel();
  Channel(Channel&&) noexcept;
  Channel& operator=(Channel&&) noexcept;
  ~Channel();
  static base::Result<Channel> connect(const std::string& socket_path);
  static base::Result<Channel> connect_at_once(const std::string& socket_path);  ///< as os::connect_at_once()

  /// Sends a request without waiting.
  template <Answered M>
  base::Result<Posted<typename M::Reply>> post(const M& message) {
    PERDURE_CHECK(send(encode_request(++sequence_, message)));
    return Posted<typename M::Reply>{sequence_};
  }
  /// Sends a message that has no reply.
  template <OneWay M>
  base::Status tell(const M& message) {
    return send(encode_request(++sequence_, message));
  }
  /// Returns the reply to a posted request, or the error in it. Fails with PERDURE_TIMEOUT after `timeout_ns` (0: no
  /// limit). Then the connection is closed, because the reply could come later.
  template <class Reply>
  base::Result<Reply> await(Posted<Reply> posted, std::uint64_t timeout_ns = 0) {
    PERDURE_TRY(const base::ConstByteSpan fields, receive(posted.sequence, timeout_ns));
    return decode_reply<Reply>(fields);
  }
  /// True if await() would return at once, or within `within_ms`.
  template <class Reply>
  bool has_come(Posted<Reply> posted, int within_ms) {
    return has_reply(posted.sequence, within_ms);
  }
  template <Answered M>
  base::Result<typename M::Reply> call(const M& message, std::uint64_t timeout_ns = 0) {
    PERDURE_TRY(const auto posted, post(message));
    return await(posted, timeout_ns);
  }
  bool connected() const { return static_cast<bool>(socket_); }
  /// True if the engine has closed its end. Costs one system call.
  bool engine_gone();
  void close() { socket_.reset(); }

 private:
  base::Status send(const std::vector<std::byte>& frame);
  /// Returns the reply with this sequence number, without the number. The bytes are valid until the next call.
  base::Result<base::ConstByteSpan> receive(std::uint64_t sequence, std::uint64_t timeout_ns);
  base::Result<std::optional<base::ConstByteSpan>> received_reply();
  base::Result<base::ConstByteSpan> next_reply(std::uint64_t timeout_ns);
  bool has_reply(std::uint64_t sequence, int within_ms);

  os::Fd socket_;
  Decoder decoder_;
  std::uint64_t sequence_ = 0;
  struct Early;  // replies that came before they were awaited
  std::unique_ptr<Early> early_;
};

}  // namespace perdure::ipc
