// Whose data a segment file holds, even when it is damaged.
#include "cli/residue.hpp"
#include "os/file.hpp"

namespace perdure::cli {
namespace {

using base::Result;
using base::Status;

class FileSource : public segment::ByteSource {
 public:
  FileSource(os::File file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return file_.path(); }
  Status read(std::uint64_t offset, base::ByteSpan target) const override { return file_.read(offset, target); }

 private:
  os::File file_;
  std::uint64_t size_;
};

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
  auto file = os::File::open(path, os::Open::read);
  if (!file) return std::nullopt;
  auto size = file->size();
  if (!size) return std::nullopt;
  return ranks_of(FileSource(std::move(*file), *size));
}

}  // namespace perdure::cli
