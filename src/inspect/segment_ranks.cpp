// Finds the ranks whose data a segment file holds, even when it is damaged.
#include "inspect/residue.hpp"
#include "segment/file_source.hpp"

namespace perdure::inspect {
namespace {

using base::Result;

std::string range(std::uint32_t first, std::uint32_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

Result<segment::Manifest> contents_without_header(const segment::ByteSource& source) {
  if (source.size() < segment::kMinSegmentBytes)
    return base::fail(PERDURE_CORRUPT, source.name(), "too short for a segment");
  PERDURE_TRY(const auto trailer, segment::read_trailer(source));
  return segment::read_contents(source, trailer);
}

}  // namespace

std::optional<std::string> ranks_of(const segment::ByteSource& source) {
  if (source.size() >= segment::kHeaderBytes) {
    std::vector<std::byte> block(segment::kHeaderBytes);
    if (source.read(0, block))
      if (auto header = segment::decode_header(block, source.name()); header && header->first_rank != segment::kNoRank)
        return range(header->first_rank, header->last_rank);
  }
  const auto contents = contents_without_header(source);
  const auto ranks = contents ? contents->ranks_here() : std::vector<std::uint32_t>();
  if (ranks.empty()) return std::nullopt;
  return range(ranks.front(), ranks.back());
}

std::optional<std::string> ranks_of_file(const std::string& path) {
  const auto file = segment::open_file(path);
  return file ? ranks_of(**file) : std::nullopt;
}

}  // namespace perdure::inspect
