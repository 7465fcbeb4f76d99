#include "process/earlier_image.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "process/gathering.hpp"
#include "process/image_source.hpp"
#include "reader/stored_content.hpp"

namespace perdure::process {

base::Result<std::unique_ptr<EarlierImage>> EarlierImage::open(const config::Config& config, const std::string& name,
                                                               unsigned most_lenders) {
  PERDURE_TRY(auto store, store::make_store(config.text("store.path"), config.below("store.")));
  std::unique_ptr<EarlierImage> earlier(new EarlierImage(std::move(store), most_lenders));
  const base::Status read = base::caught("image", [&] { return earlier->read(name); });
  if (!read) earlier->before_.reset();
  if (!read && read.error().code != PERDURE_NOT_FOUND) earlier->note_ = read.error().text();
  return earlier;
}

// Reads only the record, and verifies each of its chunks.
base::Status EarlierImage::read(const std::string& name) {
  PERDURE_TRY(const auto listing, reader::find_version(*store_, name, std::nullopt));
  const auto& id = listing.id;
  PERDURE_TRY(const auto source, store_->open(listing.segments.front()));
  PERDURE_TRY(const auto manifest, segment::read_rank(*source, 0));
  if (listing.segments.size() != 1 || manifest.pieces.size() != 1 || manifest.pieces.front().regions.empty() ||
      manifest.pieces.front().regions.front().bytes() > kMostRecordBytes)
    return base::fail(PERDURE_MISMATCH, id.text(), "it is no image of a process");
  const segment::Piece& piece = manifest.pieces.front();
  std::vector<std::byte> bytes(piece.regions.front().bytes());
  reader::VerifiedChunks chunks(*store_, 1);  // keeps one chunk
  PERDURE_CHECK(chunks.read_capture(listing.segments.front(), piece, 0, bytes));
  PERDURE_TRY(auto image, decode_image(bytes, id.text()));
  if (piece.regions != entries_of(bytes.size(), image))
    return base::fail(PERDURE_MISMATCH, id.text(), "its record says of its pages something else than the checkpoint");
  segments_ = {{id.version, listing.segments.front()}};
  PERDURE_CHECK(store::check_borrowed(*store_, id, {&manifest}));  // an image that cannot be resumed lends nothing
  PERDURE_TRY(auto borrowed, store::borrowed(*store_, id));
  segments_.insert(segments_.end(), borrowed.begin(), borrowed.end());
  before_ = StoredImage{{id.version, id.attempt.created_ns, id.attempt.nonce}, bytes.size(), std::move(image)};
  return {};
}

base::Result<ProcessImage> EarlierImage::shorten(ProcessImage image, const ReadBlock& read) {
  std::vector<std::byte> key = before_ ? before_->image.increment.key : std::vector<std::byte>();
  if (key.empty()) key = new_mark_key();
  PERDURE_TRY(auto marks, marks_of(blocks_of_pages(image.pages), key, read, copying_threads()));
  image = shortened(std::move(image), std::move(key), std::move(marks), before_ ? &*before_ : nullptr, most_lenders_);
  lent_ = {image.increment.lenders, {}, {}, {}};
  return image;
}

base::Result<store::BorrowedSegment> EarlierImage::segment_of(const segment::Borrowed& wanted) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const auto& one) { return one.described().text() == wanted.text(); });
  if (found == segments_.end())
    return base::fail(PERDURE_NOT_FOUND, "segment " + wanted.text(), "the store does not have it any more");
  return *found;
}

base::Status EarlierImage::lend_to(const segment::VersionId& borrower) {
  const auto lend = [&]() -> base::Status {
    for (const segment::Borrowed& one : lent_segments(lent_)) {
      PERDURE_TRY(const auto segment, segment_of(one));
      PERDURE_CHECK(store::borrow(*store_, borrower, segment));
    }
    return {};
  };
  const base::Status lent = lend();
  failed_ = !lent;
  if (!lent) note_ = lent.error().text();
  PERDURE_CHECK(lent);
  if (!lent_.lenders.empty()) os::crash_point(os::CrashPoint::increment_borrowed);
  return {};
}

bool EarlierImage::gave_up() {
  if (failed_) before_.reset();
  return std::exchange(failed_, false);
}

}  // namespace perdure::process
