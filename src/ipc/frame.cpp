#include "ipc/frame.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace perdure::ipc {
namespace {

using namespace std::string_view_literals;

constexpr std::uint32_t kMagic = 0x37524450;          // "PDR7"
constexpr std::uint32_t kOutdatedMagic = 0x4d524450;  // "PDRM"
constexpr std::size_t kHeaderBytes = 8;

// CBOR: {"op": "hello", "seq": 1, "protocol": 7, "fingerprint": "", "rank": 0, "first_node": false, "client": false,
// "now": a byte string with a length of 32 bits, which follows}. It is the same in all releases from protocol 7 on.
constexpr std::string_view kGreeting =
    "\xa8\x62op\x65hello\x63seq\x01\x68protocol\x07\x6b"
    "fingerprint\x60\x64rank\x00\x6a"
    "first_node\xf4\x66"
    "client\xf4\x63now\x5a"sv;
constexpr std::size_t kGreetingBytes = kGreeting.size() + 4;

void put_little(std::byte* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

void put_big(std::byte* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

std::uint32_t get_little(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | std::to_integer<std::uint32_t>(at[i]);
  return value;
}

bool is_greeting(base::ConstByteSpan content) {
  return content.size() >= kGreetingBytes && std::memcmp(content.data(), kGreeting.data(), kGreeting.size()) == 0;
}

/// A CBOR text of at most 255 bytes.
std::string cbor_text(std::string_view text) {
  return std::string("\x78") + static_cast<char>(text.size()) + std::string(text);
}

}  // namespace

base::Error too_long(const std::string& what, std::uint64_t bytes) {
  return {PERDURE_INVALID_ARGUMENT, what,
          "it would have " + std::to_string(bytes) + " bytes, " + std::to_string(kMaxFrame) + " can be taken",
          "put small regions together, or raise chunk_bytes", false};
}

FrameWriter::FrameWriter(Kind kind) : out_(own_) {
  out_.reserve(256);
  if (kind == Kind::greeting) prefix_ = kGreetingBytes;
  out_.resize(kHeaderBytes + prefix_);
}

FrameWriter::FrameWriter(std::vector<std::byte>& out) : out_(out), begin_(out.size()) {
  out_.resize(begin_ + kHeaderBytes);
}

void FrameWriter::finish() {
  std::byte* frame = out_.data() + begin_;
  const std::size_t content = out_.size() - begin_ - kHeaderBytes;
  put_little(frame, prefix_ > 0 ? kOutdatedMagic : kMagic);
  put_little(frame + 4, static_cast<std::uint32_t>(content));
  if (prefix_ == 0) return;
  std::memcpy(frame + kHeaderBytes, kGreeting.data(), kGreeting.size());
  put_big(frame + kHeaderBytes + kGreeting.size(), static_cast<std::uint32_t>(content - prefix_));
}

std::vector<std::byte> FrameWriter::take() {
  finish();
  return std::move(out_);
}

void Decoder::feed(base::ConstByteSpan bytes) {
  // The memory of a large message is released afterwards. Consumed bytes are dropped even if the stream never pauses.
  if (begin_ == buffer_.size()) {
    if (buffer_.capacity() > 2 * bytes.size()) std::vector<std::byte>().swap(buffer_);
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

base::Result<std::optional<Frame>> Decoder::next() {
  const std::size_t available = buffer_.size() - begin_;
  if (available < kHeaderBytes) return std::optional<Frame>{};
  const std::byte* header = buffer_.data() + begin_;
  const std::uint32_t magic = get_little(header), length = get_little(header + 4);
  if (magic != kMagic && magic != kOutdatedMagic)
    return base::fail(PERDURE_CORRUPT, "message", "a frame does not begin with the magic number");
  if (length > kMaxFrame) return base::fail(PERDURE_CORRUPT, "message", "a frame claims more than 64 MiB");
  if (available - kHeaderBytes < length) return std::optional<Frame>{};
  base::ConstByteSpan content(header + kHeaderBytes, length);
  begin_ += kHeaderBytes + length;
  if (magic == kMagic) return std::optional<Frame>{{content, false}};
  if (is_greeting(content)) return std::optional<Frame>{{content.subspan(kGreetingBytes), false}};
  return std::optional<Frame>{{content, true}};
}

// Such a client sends its Hello first, with the sequence number 1.
std::vector<std::byte> refuse_outdated(base::ConstByteSpan hello, std::uint64_t protocol) {
  constexpr std::string_view kKey = "\x68protocol"sv;
  const std::string_view text(reinterpret_cast<const char*>(hello.data()), hello.size());
  const std::size_t at = text.find(kKey);
  const bool told = at != std::string_view::npos && at + kKey.size() < text.size() &&
                    static_cast<unsigned char>(text[at + kKey.size()]) < 24;  // a number encoded as its own byte
  const std::string theirs = told ? std::to_string(text[at + kKey.size()]) : "an older one";
  const std::string cbor =
      "\xa2\x63seq\x01\x65" + std::string("error\xa5\x64") + "code" + static_cast<char>(PERDURE_UNSUPPORTED) +
      "\x66object" + cbor_text("engine") + "\x65" + "cause" +
      cbor_text("it speaks protocol " + std::to_string(protocol) + ", the client " + theirs) + "\x66remedy" +
      cbor_text("use the same release of Perdure for library and perdured") + "\x69retryable\xf4";
  static_assert(PERDURE_UNSUPPORTED < 24);
  std::vector<std::byte> frame(kHeaderBytes);
  put_little(frame.data(), kOutdatedMagic);
  put_little(frame.data() + 4, static_cast<std::uint32_t>(cbor.size()));
  const auto raw = base::as_bytes(cbor);
  frame.insert(frame.end(), raw.begin(), raw.end());
  return frame;
}

}  // namespace perdure::ipc
