#pragma once
// Frames on a stream: a magic number, a length, a payload. The first frame of a connection, the greeting, has the magic
// of the releases whose messages were CBOR (protocol 6 and before) and is a CBOR map to them, which holds the payload:
// an engine of such a release answers that its protocol is another one, instead of taking it for noise.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::ipc {

inline constexpr std::uint32_t kMaxFrame = 64U << 20;
/// The error of who would have to send more.
base::Error too_long(const std::string& what, std::uint64_t bytes);

/// Makes one frame: write to payload(), then take() or finish().
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
  std::size_t begin_ = 0;   // of the frame
  std::size_t prefix_ = 0;  // bytes of the frame's content that come before the payload
};

struct Frame {
  base::ConstByteSpan payload;  ///< until the decoder is called again
  bool outdated = false;        ///< a peer of protocol 6 or before; the payload is CBOR
};

/// Collects bytes and gives whole frames. After an error the stream is unusable.
class Decoder {
 public:
  void feed(base::ConstByteSpan bytes);
  /// The next whole frame; nothing when more bytes are needed.
  base::Result<std::optional<Frame>> next();

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
};

/// What a client of protocol 6 or before understands: that this engine refuses its Hello. `hello`: the payload of an
/// outdated frame.
std::vector<std::byte> refuse_outdated(base::ConstByteSpan hello, std::uint64_t protocol);

}  // namespace perdure::ipc
