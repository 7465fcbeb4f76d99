// Writes the data sets of an HDF5 file into a store as one version.
#include <algorithm>

#include "base/version.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "plan/lineage.hpp"
#include "portable/hdf5_reading.hpp"
#include "portable/import_version.hpp"
#include "reader/branches.hpp"

namespace perdure::portable {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kChunkBytes = 16 * base::MiB;
constexpr std::uint64_t kMostChunks = 1'000'000;  // chunks of a rank; a segment describes fewer

/// The current line may not have this version yet. The new attempt has to be the newest of the name, and goes on with
/// that line.
Result<segment::VersionId> new_attempt(store::Store& store, const std::string& name, std::uint64_t version) {
  PERDURE_TRY(std::uint64_t newest, store.forgotten(name));
  auto listings = store.list(name);
  if (!listings && listings.error().code != PERDURE_NOT_FOUND) return base::fail(listings.error());
  const auto all = listings ? std::move(*listings) : std::vector<store::VersionListing>();
  PERDURE_TRY(const reader::Branches branches, reader::branches_of(store, name, all));
  for (const auto& listing : all) {
    newest = std::max(newest, listing.id.attempt.created_ns);
    if (listing.id.version == version && branches.has(listing.id))
      return base::fail(
          PERDURE_EXISTS, listing.id.text(), "it is in " + store.properties().location + " already",
          "choose another version, or remove that one: perdure prune " + name + "@" + std::to_string(version));
  }
  const std::uint64_t nonce = plan::nonce_on(branches.current, os::random_u64());
  segment::VersionId id{name, version, {plan::attempt_time(os::wall_clock_ns(), newest), nonce}};
  if (const auto wrong = id.wrong(); !wrong.empty()) return base::fail(PERDURE_INVALID_ARGUMENT, id.text(), wrong);
  return id;
}

/// A file of a few bytes may claim any number of them: checks it before anything is made for each chunk.
Status check_chunks(const segment::Piece& piece, const std::string& path) {
  const std::uint64_t bytes = piece.capture_bytes();
  if (bytes / kChunkBytes < kMostChunks) return {};
  return base::fail(PERDURE_UNSUPPORTED, path + ":/",
                    "rank " + std::to_string(piece.rank) + " would have " + base::format_bytes(bytes) +
                        ", which a segment cannot describe",
                    "divide the file among ranks: /ranks/N");
}

Result<segment::Manifest> manifest_of(const Hdf5Reading& source, const segment::VersionId& id,
                                      const std::string& path) {
  segment::Manifest manifest{id, static_cast<std::uint32_t>(source.ranks()), 0,
                             1,  std::string("perdure ") + base::kVersion,   {}};
  manifest.pieces.resize(source.ranks());
  for (std::uint32_t r = 0; r < manifest.pieces.size(); ++r) {
    manifest.pieces[r].rank = r;
    manifest.pieces[r].chunk_bytes = kChunkBytes;
  }
  for (const SourceSet& set : source.sets()) manifest.pieces[set.rank.value_or(0)].regions.push_back(set.entry);
  for (segment::Piece& piece : manifest.pieces) {
    PERDURE_CHECK(check_chunks(piece, path));
    for (std::uint64_t left = piece.capture_bytes(); left > 0; left -= piece.chunks.back().length)
      piece.chunks.push_back({0, std::min(left, kChunkBytes), {}, 0});
  }
  return manifest;
}

/// Checks it as a reader will, before anything is written.
Status check_sense(const segment::Manifest& manifest) {
  std::vector<reader::RankPart> parts;
  for (const segment::Piece& piece : manifest.pieces) {
    if (const auto wrong = piece.wrong(); !wrong.empty())
      return base::fail(PERDURE_INVALID_ARGUMENT, manifest.id.text() + ", rank " + std::to_string(piece.rank), wrong);
    parts.push_back({piece, 0});
  }
  PERDURE_TRY(const auto joined, reader::join(parts, manifest.id.text()));
  return segment::check_describable(manifest, manifest.id.text());
}

/// Writes chunks of one rank's capture, as its bytes come.
class ChunkWriter {
 public:
  ChunkWriter(store::SegmentSink& sink, segment::Piece& piece) : sink_(sink), piece_(piece) {}
  Status add(base::ConstByteSpan bytes) {
    while (!bytes.empty()) {
      segment::ChunkEntry& chunk = piece_.chunks[at_];
      const auto part = bytes.first(std::min<std::size_t>(bytes.size(), chunk.length - buffer_.size()));
      buffer_.insert(buffer_.end(), part.begin(), part.end());
      bytes = bytes.subspan(part.size());
      if (buffer_.size() < chunk.length) continue;
      chunk.hash = base::hash128(buffer_);
      PERDURE_CHECK(sink_.write(chunk.offset, buffer_));
      buffer_.clear();
      ++at_;
    }
    return {};
  }

 private:
  store::SegmentSink& sink_;
  segment::Piece& piece_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;
};

Status write_chunks(Hdf5Reading& source, segment::Manifest& manifest, store::SegmentSink& sink,
                    const Advance& advance) {
  std::optional<ChunkWriter> writer;
  std::optional<std::uint32_t> of;
  return source.read([&](const SourceSet& set, base::ConstByteSpan elements) -> Status {
    const std::uint32_t rank = set.rank.value_or(0);
    if (of != rank) writer.emplace(sink, manifest.pieces[rank]);
    of = rank;
    PERDURE_CHECK(writer->add(elements));
    os::crash_point(os::CrashPoint::import_chunk);
    advance(elements.size());
    return {};
  });
}

Status write_segment(Hdf5Reading& source, segment::Manifest& manifest, store::Store& store, const Advance& advance) {
  const std::uint64_t tail = segment::lay_out(manifest);
  PERDURE_TRY(const auto sink, store.begin(manifest, tail + segment::tail_bytes(manifest, tail)));
  os::crash_point(os::CrashPoint::import_begun);
  PERDURE_CHECK(write_chunks(source, manifest, *sink, advance));
  PERDURE_CHECK(sink->write(0, segment::encode_header(manifest)));
  PERDURE_CHECK(segment::write_tail(
      manifest, tail, [&](std::uint64_t offset, base::ConstByteSpan data) { return sink->write(offset, data); }));
  os::crash_point(os::CrashPoint::import_before_commit);
  PERDURE_CHECK(sink->commit());
  os::crash_point(os::CrashPoint::import_committed);
  return {};
}

/// Reads every byte, from the device if the system lets us. A version that is damaged from the beginning does not stay.
Status read_back(store::Store& store, const segment::VersionId& id, const Advance& advance) {
  PERDURE_TRY(const auto listings, store.list(id.name));
  for (const auto& listing : listings) {
    if (listing.id != id || !listing.all_present()) continue;
    PERDURE_TRY(const auto segment, store.open_anew(listing.segments.front()));
    const auto defects = segment::verify(*segment, advance);
    if (defects.empty()) return {};
    (void)store.remove(id);
    return base::fail(defects.front().error);
  }
  return base::fail(PERDURE_NOT_FOUND, id.text(), "it was written, and is not there any more");
}

}  // namespace

Result<std::uint64_t> hdf5_bytes(const std::string& path) {
  PERDURE_TRY(const auto source, Hdf5Reading::open(path, {}));
  return source.bytes();
}

Result<Imported> import_hdf5(const std::string& path, store::Store& store, const std::string& name,
                             std::uint64_t version, const Advance& advance, const ReadLimits& limits) {
  PERDURE_TRY(const auto id, new_attempt(store, name, version));
  PERDURE_TRY(auto source, Hdf5Reading::open(path, limits));
  PERDURE_TRY(segment::Manifest manifest, manifest_of(source, id, path));
  PERDURE_CHECK(check_sense(manifest));
  PERDURE_CHECK(write_segment(source, manifest, store, advance));
  PERDURE_CHECK(read_back(store, id, advance));
  const auto arrays = static_cast<std::uint64_t>(
      std::count_if(source.sets().begin(), source.sets().end(), [](const SourceSet& set) { return !set.rank; }));
  return Imported{id, source.ranks(), arrays, source.sets().size() - arrays, source.bytes()};
}

}  // namespace perdure::portable
