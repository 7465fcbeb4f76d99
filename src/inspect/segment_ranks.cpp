// Whose data a segment file holds, even when it is damaged.
#include "inspect/residue.hpp"
#include "segment/file_source.hpp"

namespace perdure::inspect {
namespace {

using base::Result;

std::optional<std::string> range(std::uint32_t first, std::uint32_t last) {
  if (first == segment::kNoRank) return std::nullopt;
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

Result<segment::Manifest> manifest_without_header(const segment::ByteSource& source) {
  if (source.size() < segment::kHeaderBytes + segment::kTrailerBytes)
    return base::fail(PERDURE_CORRUPT, source.name(), "too short for a segment");
  std::vector<std::byte> trailer(segment::kTrailerBytes);
  PERDURE_CHECK(source.read(source.size() - trailer.size(), trailer));
  PERDURE_TRY(const auto decoded, segment::decode_trailer(trailer, source.size(), source.name()));
  std::vector<std::byte> manifest(decoded.manifest_length);
  PERDURE_CHECK(source.read(decoded.manifest_offset, manifest));
  return segment::decode_manifest(manifest, decoded, source.name());
}

}  // namespace

std::optional<std::string> ranks_of(const segment::ByteSource& source) {
  if (source.size() >= segment::kHeaderBytes) {
    std::vector<std::byte> block(segment::kHeaderBytes);
    if (source.read(0, block))
      if (auto header = segment::decode_header(block, source.name()))
        return range(header->first_rank, header->last_rank);
  }
  auto manifest = manifest_without_header(source);
  if (!manifest || manifest->pieces.empty()) return std::nullopt;
  return range(manifest->pieces.front().rank, manifest->pieces.back().rank);
}

std::optional<std::string> ranks_of_file(const std::string& path) {
  const auto file = segment::open_file(path);
  return file ? ranks_of(**file) : std::nullopt;
}

}  // namespace perdure::inspect
