#pragma once
// Writes versions with arrays into a store of the test's own, as any number of ranks would write them.
#include <cstring>
#include <map>

#include "array/any_boxes_testing.hpp"
#include "reader/stored_content.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::reader {

/// Returns byte `byte` of the element at this index of that array.
inline std::byte content(std::int32_t id, const array::Index& at, std::uint64_t byte) {
  std::uint64_t mixed = static_cast<std::uint64_t>(id) * 31 + byte;
  for (const std::uint64_t index : at) mixed = (mixed + index + 1) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::byte>(mixed >> 56);
}
inline std::vector<std::byte> contents(std::int32_t id, const array::Box& box, std::uint64_t element_bytes) {
  std::vector<std::byte> bytes;
  bytes.reserve(box.elements() * element_bytes);
  array::each_element(box, [&](const array::Index& at) {
    for (std::uint64_t byte = 0; byte < element_bytes; ++byte) bytes.push_back(content(id, at, byte));
  });
  return bytes;
}

/// One rank's growing piece, with its capture.
struct WrittenRank {
  segment::Piece piece;
  std::vector<std::byte> capture;
  void add(segment::RegionEntry entry, const std::vector<std::byte>& bytes) {
    piece.regions.push_back(std::move(entry));
    capture.insert(capture.end(), bytes.begin(), bytes.end());
  }
  void add(std::int32_t id, const segment::ArrayEntry& array) {
    std::vector<std::byte> bytes;
    for (const auto& box : array.boxes) {
      const auto more = contents(id, box, array.type.bytes());
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    add(segment::entry_of(id, array).value(), bytes);
  }
  void cut(std::uint64_t chunk_bytes) {
    piece.chunk_bytes = chunk_bytes;
    piece.chunks.clear();
    for (std::uint64_t begin = 0; begin < capture.size(); begin += chunk_bytes) {
      const auto part = base::ConstByteSpan(capture).subspan(begin, std::min(chunk_bytes, capture.size() - begin));
      piece.chunks.push_back({0, part.size(), base::hash128(part), 0});
    }
  }
};

/// A store and the versions written into it.
class WrittenStore {
 public:
  WrittenStore() : store_(store::make_store(directory_ / "store").value()) { (void)store_->prepare(); }
  store::Store& store() { return *store_; }
  std::string path() const { return directory_ / "store"; }
  std::string file(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) const {
    return path() + "/" + id.name + "/" + std::to_string(id.version) + "/" +
           segment::file_name(index, count, id.attempt);
  }
  /// Puts rank r into segment r % segments. Writes only the segments of `which`, or all.
  void write(const segment::VersionId& id, std::vector<WrittenRank> ranks, std::uint32_t segments,
             const std::vector<std::uint32_t>& which = {}, segment::Tables tables = segment::Tables::when_needed) {
    for (std::uint32_t r = 0; r < ranks.size(); ++r) ranks[r].piece.rank = r;
    for (std::uint32_t s = 0; s < segments; ++s) {
      if (!which.empty() && std::find(which.begin(), which.end(), s) == which.end()) continue;
      segment::Manifest manifest{id, static_cast<std::uint32_t>(ranks.size()), s, segments, "perdure test", {}};
      for (std::uint32_t r = s; r < ranks.size(); r += segments) manifest.pieces.push_back(ranks[r].piece);
      const auto file = bytes_of(manifest, ranks, tables);
      auto sink = store_->begin(manifest, file.size()).value();
      (void)sink->write(0, file);
      (void)sink->commit();
    }
  }
  base::Result<StoredContent> open(const std::string& name, std::optional<std::uint64_t> version = std::nullopt,
                                   std::uint64_t kept_bytes = 1 << 20) {
    PERDURE_TRY(const auto listing, find_version(*store_, name, version));
    return StoredContent::open(*store_, listing, kept_bytes);
  }

 private:
  static std::vector<std::byte> bytes_of(segment::Manifest& manifest, const std::vector<WrittenRank>& ranks,
                                         segment::Tables tables) {
    const auto tail_at = segment::lay_out(manifest, tables);
    auto file = segment::encode_header(manifest);
    file.resize(tail_at);
    for (const auto& piece : manifest.pieces)
      for (std::size_t i = 0; i < piece.chunks.size(); ++i)
        std::memcpy(file.data() + piece.chunks[i].offset, ranks[piece.rank].capture.data() + i * piece.chunk_bytes,
                    piece.chunks[i].length);
    const auto tail = segment::encode_tail(manifest, tail_at);
    file.insert(file.end(), tail.begin(), tail.end());
    return file;
  }

  test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
  std::unique_ptr<store::Store> store_;
};

}  // namespace perdure::reader
