#include "process/lender_pages.hpp"

#include <algorithm>
#include <utility>

namespace perdure::process {
namespace {

constexpr std::uint64_t kKeptBytes = 256 * base::MiB;
constexpr std::uint64_t kPieceBytes = 4 * base::MiB;

/// Other errors may pass at the next reading, and say nothing about the bytes.
bool is_about_its_bytes(base::ErrorCode code) { return code == PERDURE_CORRUPT || code == PERDURE_NOT_FOUND; }

base::Error missing(const segment::VersionId& borrower, const segment::Borrowed& wanted, const std::string& why) {
  return {PERDURE_INCOMPLETE, borrower.text(),
          "what it has of version " + std::to_string(wanted.version) + " is not there: " + why,
          "perdure verify " + borrower.name + " says what of it is whole", false};
}

}  // namespace

LenderPages::LenderPages(std::unique_ptr<store::Store> store, segment::VersionId borrower)
    : store_(std::move(store)), borrower_(std::move(borrower)), chunks_(*store_, kKeptBytes) {}

base::Result<std::unique_ptr<LenderPages>> LenderPages::open(std::unique_ptr<store::Store> store,
                                                             const segment::VersionId& borrower,
                                                             const Increment& increment) {
  std::unique_ptr<LenderPages> lent(new LenderPages(std::move(store), borrower));
  for (const segment::Borrowed& one : lent_segments(increment)) {
    PERDURE_TRY(auto source, lent->find(one));
    lent->sources_.push_back(std::move(source));
  }
  return lent;
}

// Also tries the lender's own version, which has the same file. A borrower that was only captured has no other.
base::Result<LenderPages::Source> LenderPages::find(const segment::Borrowed& wanted) {
  PERDURE_TRY(auto candidates, store::borrowed(*store_, borrower_));
  PERDURE_TRY(const auto listings, store_->list(borrower_.name));
  for (const auto& listing : listings)
    for (const auto& segment : listing.segments) candidates.push_back({listing.id.version, segment});
  base::Error why = missing(borrower_, wanted, "the store does not have it");
  for (const auto& candidate : candidates) {
    if (candidate.described().text() != wanted.text()) continue;
    const auto read = [&]() -> base::Result<Source> {
      PERDURE_TRY(const auto source, store_->open(candidate.segment));
      PERDURE_TRY(auto manifest, segment::read_rank(*source, 0));
      const segment::VersionId lender{borrower_.name, wanted.version, wanted.file.attempt};
      if (manifest.id != lender || manifest.pieces.size() != 1)
        return base::fail(PERDURE_CORRUPT, source->name(), "it is another segment than its name says");
      return Source{wanted, candidate.segment, std::move(manifest.pieces.front()), source->identity()};
    };
    auto found = read();
    if (found) return found;
    if (!is_about_its_bytes(found.error().code)) return found;
    why = missing(borrower_, wanted, found.error().text());
  }
  return base::fail(why);
}

// From now on all images that borrow from it are incomplete, and no capture borrows from it.
void LenderPages::set_aside(const Source& source, const base::Error& why) {
  const segment::VersionId lender{borrower_.name, source.wanted.version, source.wanted.file.attempt};
  const auto& file = source.wanted.file;
  (void)store_->quarantine({file.index, file.count, file.attempt, source.segment.path, source.identity}, lender, why);
}

base::Status LenderPages::read(const Source& source, std::uint64_t offset, base::ByteSpan target) {
  const segment::Piece& piece = source.piece;
  if (offset > piece.capture_bytes() || target.size() > piece.capture_bytes() - offset)
    return base::fail(missing(borrower_, source.wanted, "its segment is shorter than that"));
  const auto given = chunks_.read_capture(source.segment, piece, offset, target);
  if (!given && given.error().code == PERDURE_CORRUPT) set_aside(source, given.error());
  if (!given && is_about_its_bytes(given.error().code))
    return base::fail(missing(borrower_, source.wanted, given.error().text()));
  return given;
}

base::Status LenderPages::for_each(const Increment& increment, const Take& take) {
  std::vector<std::byte> buffer(kPieceBytes);
  std::uint64_t filled = 0;
  for (const BorrowedPages& pages : increment.borrowed)
    for (const BorrowedRun& run : pages.runs)
      for (std::uint64_t done = 0, bytes = run.pages * kPageBytes; done < bytes;) {
        const auto part = base::ByteSpan(buffer).subspan(filled, std::min(kPieceBytes - filled, bytes - done));
        PERDURE_CHECK(read(sources_[pages.lender], run.offset + done, part));
        done += part.size();
        filled += part.size();
        if (filled < kPieceBytes) continue;
        PERDURE_CHECK(take(buffer));
        filled = 0;
      }
  return filled > 0 ? take(base::ConstByteSpan(buffer).first(filled)) : base::Status();
}

}  // namespace perdure::process
