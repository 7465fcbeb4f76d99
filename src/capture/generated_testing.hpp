#pragma once
// Generates a capture, and a target without memory, like a stream or a file, for tests.
#include <algorithm>
#include <map>

#include "capture/target.hpp"

namespace perdure::capture {

/// Has two entries, of which the second is opaque; byte i of the capture follows from the seed. It gives bytes in small
/// pieces out of a buffer that it reuses.
class GeneratedSource : public Source {
 public:
  GeneratedSource(std::uint64_t bytes, std::uint64_t seed) : bytes_(bytes), seed_(seed) {}
  static std::byte byte_at(std::uint64_t seed, std::uint64_t i) {
    const std::uint64_t mixed = (i + seed) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::byte>(mixed >> 56);
  }
  base::Result<Description> describe() override {
    Description described{{{3, 1, bytes_ / 4}, {8, 1, bytes_ - bytes_ / 4}}, bytes_};
    described.entries[1].kind = segment::EntryKind::opaque;
    described.entries[1].attributes = {{"seed", static_cast<std::int64_t>(seed_)}};
    return described;
  }
  base::Status read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override {
    std::vector<std::byte> buffer(1000);
    for (std::uint64_t at = range.begin; at < range.end(); at += buffer.size()) {
      const std::uint64_t length = std::min<std::uint64_t>(buffer.size(), range.end() - at);
      for (std::uint64_t i = 0; i < length; ++i) buffer[i] = byte_at(seed_, at + i);
      PERDURE_CHECK(take(base::ConstByteSpan(buffer).first(length)));
    }
    return {};
  }

 private:
  std::uint64_t bytes_, seed_;
};

/// Takes written bytes, and keeps what it asked for: all, or these ranges.
class CollectingTarget : public Target {
 public:
  CollectingTarget() = default;
  explicit CollectingTarget(std::vector<ChunkRange> needed) : needed_(std::move(needed)), all_(false) {}
  base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override {
    entries = stored;
    std::uint64_t bytes = 0;
    for (const auto& entry : stored) bytes += entry.bytes();
    if (all_) needed_ = {{0, bytes}};
    return needed_;
  }
  base::Status write(ChunkRange range, base::ConstByteSpan bytes) override {
    if (bytes.size() != range.length) return base::fail(PERDURE_INTERNAL, "target", "range and bytes differ in length");
    pieces_[range.begin].assign(bytes.begin(), bytes.end());
    return {};
  }
  std::uint64_t bytes_written() const {
    std::uint64_t bytes = 0;
    for (const auto& [begin, piece] : pieces_) bytes += piece.size();
    return bytes;
  }
  /// Whether each written byte is the capture's byte at its offset.
  bool agrees_with(base::ConstByteSpan capture) const {
    return std::ranges::all_of(pieces_, [&](const auto& one) {
      return one.first + one.second.size() <= capture.size() &&
             std::ranges::equal(one.second, capture.subspan(one.first, one.second.size()));
    });
  }
  std::vector<segment::RegionEntry> entries;

 private:
  std::map<std::uint64_t, std::vector<std::byte>> pieces_;  // by offset in the capture; no two overlap
  std::vector<ChunkRange> needed_;
  bool all_ = true;
};

}  // namespace perdure::capture
