// Writes a segment, so that it is invisible or complete and durable, whenever the process dies:
//   1. Begin an upload under the segment's key.
//   2. Collect the bytes in parts, and send each part once it is full. The first part and those with the manifest stay
//      here to the end.
//   3. At the commit, send the rest.
//   4. Complete the upload, if there is no object under the key.
// Published segments are never overwritten. If step 4 finds an object, there are three cases:
//   - An empty object stands for a segment that was set aside. The upload replaces it, if it is still that.
//   - A segment of the same content counts as this one. Every byte of it is read first.
//   - A damaged segment is copied into quarantine. The upload replaces it, if it is still that.
// Any other segment is an error.
#include "store/version_upload.hpp"

#include <algorithm>

#include "segment/segment.hpp"
#include "store/object_keys.hpp"
#include "store/object_quarantine.hpp"
#include "store/object_source.hpp"
#include "store/published.hpp"

namespace perdure::store {
namespace {

using base::Status;

constexpr int kMostPublishings = 10;  // each one but the last met another writer

/// An upload that a cleaner gave up, or whose store vanished: the segment can be written again.
Status again(Status status) {
  if (!status && status.error().code == PERDURE_NOT_FOUND) status.error().retryable = true;
  return status;
}

/// Reads the parts that the writer still has: all of its segment but the chunks.
class KeptParts final : public segment::ByteSource {
 public:
  KeptParts(std::string name, std::uint64_t bytes) : name_(std::move(name)), bytes_(bytes) {}
  void add(std::uint64_t offset, base::ConstByteSpan part) { parts_[offset] = part; }
  std::uint64_t size() const override { return bytes_; }
  const std::string& name() const override { return name_; }
  Status read(std::uint64_t offset, base::ByteSpan target) const override {
    for (std::size_t done = 0; done < target.size();) {
      auto found = parts_.upper_bound(offset + done);
      if (found == parts_.begin()) return missing(offset);
      --found;
      const std::uint64_t skipped = offset + done - found->first;
      if (skipped >= found->second.size()) return missing(offset);
      const std::size_t step = std::min<std::uint64_t>(target.size() - done, found->second.size() - skipped);
      std::copy_n(found->second.begin() + static_cast<std::ptrdiff_t>(skipped), step,
                  target.begin() + static_cast<std::ptrdiff_t>(done));
      done += step;
    }
    return {};
  }

 private:
  Status missing(std::uint64_t offset) const {
    return base::fail(PERDURE_INTERNAL, name_, "the writer has sent the bytes at " + std::to_string(offset));
  }
  const std::string name_;
  const std::uint64_t bytes_;
  std::map<std::uint64_t, base::ConstByteSpan> parts_;
};

}  // namespace

void Coverage::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto next = intervals_.upper_bound(begin);
  if (next != intervals_.begin() && std::prev(next)->second >= begin) --next;
  while (next != intervals_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = intervals_.erase(next);
  }
  intervals_[begin] = end;
}

bool Coverage::reaches(std::uint64_t end) const {
  if (end == 0) return true;
  return !intervals_.empty() && intervals_.begin()->first == 0 && intervals_.begin()->second >= end;
}

std::uint64_t part_bytes(std::uint64_t bytes, const ObjectsProperties& properties) {
  const std::uint64_t most = std::max<std::uint64_t>(properties.most_parts, 1);
  const std::uint64_t needed = bytes / most + (bytes % most != 0 ? 1 : 0);
  const std::uint64_t least = std::max({properties.usual_part_bytes, properties.least_part_bytes, needed});
  return (least + segment::kAlignment - 1) / segment::kAlignment * segment::kAlignment;
}

VersionUpload::VersionUpload(std::shared_ptr<Objects> objects, const segment::Manifest& manifest,
                             std::uint64_t file_bytes)
    : objects_(std::move(objects)),
      id_(manifest.id),
      key_(segment_key(manifest.id, manifest.segment_index, manifest.segment_count)),
      name_(objects_->properties().location + "/" + key_),
      file_bytes_(file_bytes),
      part_bytes_(part_bytes(file_bytes, objects_->properties())) {
  segment::Manifest laid = manifest;
  tail_ = std::min(segment::lay_out(laid), file_bytes);
  {
    const auto state = state_.lock();
    state->parts.resize((file_bytes + part_bytes_ - 1) / part_bytes_);
  }
  expect(laid);
}

/// Writers leave out gaps, which are zero bytes. The header block, the chunks and the trailer have to come.
void VersionUpload::expect(const segment::Manifest& laid) {
  std::uint64_t done = std::min(segment::kHeaderBytes, file_bytes_);
  for (const segment::Piece& piece : laid.pieces)
    for (const segment::ChunkEntry& chunk : piece.chunks) {
      skip(done, std::min(chunk.offset, file_bytes_));
      done = std::max(done, std::min(chunk.offset + chunk.length, file_bytes_));
    }
  skip(done, file_bytes_ - std::min(segment::kTrailerBytes, file_bytes_));
}

void VersionUpload::skip(std::uint64_t begin, std::uint64_t end) {
  const auto state = state_.lock();
  while (begin < end) {
    const auto part = static_cast<std::uint32_t>(begin / part_bytes_);
    const std::uint64_t here = std::min(end, begin_of(part) + size_of(part));
    state->parts[part].there.add(begin - begin_of(part), here - begin_of(part));
    begin = here;
  }
}

base::Result<std::unique_ptr<SegmentSink>> VersionUpload::begin(std::shared_ptr<Objects> objects,
                                                                const segment::Manifest& manifest,
                                                                std::uint64_t file_bytes) {
  std::unique_ptr<VersionUpload> sink(new VersionUpload(std::move(objects), manifest, file_bytes));
  PERDURE_TRY(sink->upload_, sink->objects_->begin(sink->key_));
  return sink;
}

std::uint64_t VersionUpload::size_of(std::uint32_t part) const {
  return std::min(part_bytes_, file_bytes_ - begin_of(part));
}

bool VersionUpload::stays(std::uint32_t part) const { return part == 0 || begin_of(part) + size_of(part) > tail_; }

/// Whether the part is to be sent now. Bytes of a part that was sent are those of an earlier try, repeated.
bool VersionUpload::put_into(std::uint32_t part, std::uint64_t offset, base::ConstByteSpan data) {
  const auto state = state_.lock();
  Part& into = state->parts[part];
  if (into.is == Part::Is::sent || into.is == Part::Is::sending) return false;
  if (into.bytes.empty()) into.bytes.resize(size_of(part));
  std::copy(data.begin(), data.end(), into.bytes.begin() + static_cast<std::ptrdiff_t>(offset - begin_of(part)));
  into.there.add(offset - begin_of(part), offset - begin_of(part) + data.size());
  if (!into.there.reaches(size_of(part))) return false;
  into.is = Part::Is::full;
  if (stays(part)) return false;
  into.is = Part::Is::sending;
  return true;
}

/// The part is full, and nobody else touches it.
Status VersionUpload::send(std::uint32_t part) {
  base::ConstByteSpan bytes;
  {
    const auto state = state_.lock();
    bytes = state->parts[part].bytes;
  }
  const Status sent = upload_->put(part, bytes);
  const auto state = state_.lock();
  Part& one = state->parts[part];
  one.is = sent ? Part::Is::sent : Part::Is::full;
  if (sent && !stays(part)) std::vector<std::byte>().swap(one.bytes);
  return again(sent);
}

Status VersionUpload::write(std::uint64_t offset, base::ConstByteSpan data) {
  {
    const auto state = state_.lock();
    if (state->ended) return base::fail(PERDURE_CLOSED, name_, "the segment was committed or given up already");
  }
  if (offset > file_bytes_ || data.size() > file_bytes_ - offset)
    return base::fail(PERDURE_INVALID_ARGUMENT, name_,
                      "bytes " + std::to_string(offset) + " to " + std::to_string(offset + data.size()) +
                          " are outside the segment of " + std::to_string(file_bytes_) + " bytes");
  while (!data.empty()) {
    const auto part = static_cast<std::uint32_t>(offset / part_bytes_);
    const auto here = data.first(std::min<std::uint64_t>(data.size(), begin_of(part) + size_of(part) - offset));
    if (put_into(part, offset, here)) PERDURE_CHECK(send(part));
    offset += here.size();
    data = data.subspan(here.size());
  }
  return {};
}

Status VersionUpload::read(std::uint64_t, base::ByteSpan) {
  return base::fail(PERDURE_UNSUPPORTED, name_, "this store does not show what is being written");
}

Status VersionUpload::send_rest() {
  std::vector<std::uint32_t> rest;
  {
    const auto state = state_.lock();
    for (std::uint32_t part = 0; part < state->parts.size(); ++part) {
      Part& one = state->parts[part];
      if (one.is == Part::Is::sent) continue;
      if (one.is == Part::Is::filling && one.bytes.empty() && one.there.reaches(size_of(part))) {
        one.bytes.resize(size_of(part));  // all of it is a gap
        one.is = Part::Is::full;
      }
      if (one.is != Part::Is::full)
        return base::fail(PERDURE_INTERNAL, name_,
                          "bytes from " + std::to_string(begin_of(part)) + " on were not all written at its commit");
      rest.push_back(part);
    }
  }
  for (const std::uint32_t part : rest) PERDURE_CHECK(send(part));
  return {};
}

/// There is an object under the key.
Status VersionUpload::replace(const ObjectInfo& there) {
  const auto parts = static_cast<std::uint32_t>((file_bytes_ + part_bytes_ - 1) / part_bytes_);
  const auto in_its_stead = [&]() -> Status {
    const auto completed = upload_->complete(parts, PutCondition::tagged(there.tag));
    return completed ? Status() : Status(base::fail(completed.error()));
  };
  if (there.bytes == 0) return in_its_stead();
  PERDURE_TRY(const auto published, open_object(objects_, key_));
  KeptParts mine(name_, file_bytes_);
  {
    const auto state = state_.lock();
    for (std::uint32_t part = 0; part < state->parts.size(); ++part)
      if (stays(part)) mine.add(begin_of(part), state->parts[part].bytes);
  }
  const Status same = check_published(*published, mine);
  if (same || same.error().code != PERDURE_CORRUPT) return same;
  // One reading is not believed.
  PERDURE_TRY(const auto second, open_object(objects_, key_));
  auto defects = segment::verify(*second, nullptr);
  if (defects.empty())
    return base::fail(PERDURE_IO, name_, "it was damaged at the first reading, and whole at the second",
                      "check this node's memory, and the store", true);
  if (defects.front().error.code != PERDURE_CORRUPT) return base::fail(std::move(defects.front().error));
  PERDURE_CHECK(put_aside(*objects_, there, id_, same.error()));
  return in_its_stead();
}

Status VersionUpload::publish() {
  PERDURE_CHECK(send_rest());
  const auto parts = static_cast<std::uint32_t>((file_bytes_ + part_bytes_ - 1) / part_bytes_);
  for (int publishing = 1;; ++publishing) {
    const auto completed = upload_->complete(parts, PutCondition::absent());
    if (completed) return {};
    // Without its upload, it may have been completed by an earlier try whose answer was lost.
    const bool lost = completed.error().code == PERDURE_NOT_FOUND;
    if (completed.error().code != PERDURE_EXISTS && !lost) return base::fail(completed.error());
    const auto there = objects_->stat(key_);
    const bool free = !there && there.error().code == PERDURE_NOT_FOUND;
    if (free && !lost && publishing < kMostPublishings) continue;
    if (!there) return base::fail(lost ? completed.error() : there.error());
    Status replaced = replace(*there);
    const bool met =
        !replaced && (replaced.error().code == PERDURE_EXISTS || replaced.error().code == PERDURE_NOT_FOUND);
    const auto now = met ? objects_->stat(key_) : base::Result<ObjectInfo>();
    if (!met || (now && now->tag == there->tag) || publishing == kMostPublishings) return replaced;
  }
}

Status VersionUpload::commit() {
  {
    const auto state = state_.lock();
    if (std::exchange(state->ended, true))
      return base::fail(PERDURE_CLOSED, name_, "the segment was committed or given up already");
  }
  Status published = again(publish());
  upload_.reset();  // gives up what was not completed
  const auto state = state_.lock();
  state->parts.clear();
  return published;
}

}  // namespace perdure::store
