#pragma once
// Frames divide a stream: a magic number, a length, a payload. The first frame of a connection, the greeting, has the
// magic of the releases whose messages were CBOR (protocol 6 and before). To them it is a CBOR map that holds the
// payload. So an engine of such a release answers that its protocol differs, instead of taking it for noise.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::ipc {

inline constexpr std::uint32_t kMaxFrame = 64U << 20;
/// Returns the error for a message of `bytes`, which is too long to send.
base::Error too_long(const std::string& what, std::uint64_t bytes);

/// Makes one frame. Write to payload(), then call take() or finish().
class FrameWriter {
 public:
  enum class Kind : std::uint8_t { usual, greeting };
  explicit FrameWriter(Kind kind);
  /// Appends a usual frame to `out`.
  explicit FrameWriter(std::vector<std::byte>& out);
  std::vector<std::byte>& payload() { return out_; }
  void finish();
  std::vector<std::byte> take();

 private:
  std::vector<std::byte> own_;
  std::vector<std::byte>& out_;
  std::size_t begin_ = 0;   // where the frame begins
  std::size_t prefix_ = 0;  // bytes of content before the payload
};

struct Frame {
  base::ConstByteSpan payload;  ///< valid until the next call of the decoder
  bool outdated = false;        ///< from a peer of protocol 6 or before; the payload is CBOR
};

/// Collects bytes and returns whole frames. After an error the stream is unusable.
class Decoder {
 public:
  void feed(base::ConstByteSpan bytes);
  /// Returns the next whole frame; nullopt if more bytes are needed.
  base::Result<std::optional<Frame>> next();

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
};

/// Refuses the Hello of a client of protocol 6 or before, in a form that it understands. `hello`: the payload of an
/// outdated frame.
std::vector<std::byte> refuse_outdated(base::ConstByteSpan hello, std::uint64_t protocol);

}  // namespace perdure::ipc
