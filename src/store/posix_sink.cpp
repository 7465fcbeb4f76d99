// Writing a segment, so that it is invisible or complete and durable, whenever the process or the machine dies:
//   1. make <name> and <name>/<version>, each synced into its parent (also when they were there: whoever made them may
//      have died before the sync)
//   2. create <name>/<version>/.tmp-<writer><random>-<file name>, lock it while this process lives, and reserve its
//      room; no two writers ever have the same file, and none touches what another one left: chunks may be nowhere else
//   3. write; every 8 MiB the system is asked to start writing back, so that the sync has little left to wait for
//   4. sync the file's data
//   5. rename it to <file name>, if there is none of that name: from here on it is visible
//   6. sync <name>/<version>: from here on it stays visible
// Every result is checked. A failed sync may have dropped data that a second one would not miss: after any failure of
// 4 to 6 the segment is given up and must be written again from 1. What is published is never overwritten: where step 5
// finds the name taken (6 failed before, or another engine wrote the same segment), every byte of what is there is
// verified, and it counts as written when it has the same content; a damaged one is set aside, and 5 done again; a
// different one is an error.
#include "store/posix_sink.hpp"

#include <algorithm>
#include <vector>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "segment/file_source.hpp"
#include "store/posix_quarantine.hpp"
#include "store/posix_removal.hpp"
#include "store/published.hpp"

namespace perdure::store {
namespace {

using base::Status;

constexpr std::uint64_t kWritebackBytes = 8 * base::MiB;
constexpr const char* kBringBack = "bring the store's directory back (is its file system mounted?)";

/// A path that is missing while we write is a store that vanished, and may return.
Status vanished(Status status) {
  if (!status && status.error().code == PERDURE_NOT_FOUND) {
    status.error().retryable = true;
    status.error().remedy = kBringBack;
  }
  return status;
}

// The root is not made here: where a file system is not mounted, that would fill the disk below the mount point.
Status check_root(const PosixLayout& layout) {
  PERDURE_TRY(const bool there, os::exists(layout.root()));
  if (there) return {};
  return base::fail(PERDURE_NOT_FOUND, layout.root(), "the store's directory is not there", kBringBack, true);
}

// The lock tells others that the writer lives. Where files cannot be locked, names and ages have to do.
Status lock(const os::File& file) {
  auto locked = file.try_lock();
  return locked || locked.error().code != PERDURE_BUSY ? Status() : locked;
}

}  // namespace

PosixSink::PosixSink(const PosixLayout& layout, const segment::Manifest& manifest, std::uint64_t file_bytes)
    : layout_(layout),
      id_(manifest.id),
      segment_{manifest.segment_index, manifest.segment_count, manifest.id.attempt},
      file_bytes_(file_bytes) {
  const std::string name = segment::file_name(segment_.index, segment_.count, segment_.attempt);
  temporary_ = layout_.version_directory(id_) + "/" +
               temporary_name(layout.writer(), static_cast<std::uint32_t>(os::random_u64()), name);
  final_ = layout_.version_directory(id_) + "/" + name;
}

base::Result<std::unique_ptr<SegmentSink>> PosixSink::begin(const PosixLayout& layout,
                                                            const segment::Manifest& manifest,
                                                            std::uint64_t file_bytes) {
  std::unique_ptr<PosixSink> sink(new PosixSink(layout, manifest, file_bytes));
  PERDURE_CHECK(check_root(layout));
  PERDURE_CHECK(sink->check_wanted());
  PERDURE_CHECK(vanished(finish_removal(layout, manifest.id)));
  Status created;
  // A cleaner may remove the still empty version directory between steps 1 and 2: then again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    PERDURE_CHECK(vanished(sink->make_directories()));
    created = sink->create();
    if (created || created.error().code != PERDURE_NOT_FOUND) break;
  }
  PERDURE_CHECK(vanished(std::move(created)));
  return sink;
}

// Where the marks cannot be read now, nothing is lost by going on: they hide what is published under them.
Status PosixSink::check_wanted() const {
  const auto forgotten_ns = forgotten(layout_, id_.name);
  if (!forgotten_ns || id_.attempt.created_ns > *forgotten_ns) return {};
  return base::fail(PERDURE_CLOSED, id_.text(), "it was forgotten on purpose (perdure forget)");
}

Status PosixSink::make_directories() const {
  PERDURE_CHECK(os::make_directory(layout_.name_directory(id_.name)));
  PERDURE_CHECK(os::sync_directory(layout_.root()));
  PERDURE_CHECK(os::make_directory(layout_.version_directory(id_)));
  return os::sync_directory(layout_.name_directory(id_.name));
}

Status PosixSink::create() {
  // What this writer left when it was killed; where that cannot be seen or removed now, it is clean()'s work.
  if (const auto left = temporaries_of(layout_, id_, segment_.index, segment_.count))
    for (const std::string& other : *left) (void)remove_abandoned(other);
  PERDURE_CHECK(create_file());
  os::crash_point(os::CrashPoint::flush_created);
  return file_.preallocate(file_bytes_);
}

// Between its creation and its lock a file may be taken for an abandoned one, and removed: then again.
Status PosixSink::create_file() {
  for (;;) {
    PERDURE_TRY(file_, os::File::open(temporary_, os::Open::create_new));
    PERDURE_CHECK(lock(file_));
    PERDURE_TRY(const bool there, os::exists(temporary_));
    if (there) return {};
  }
}

base::Result<std::unique_ptr<SegmentSink>> PosixSink::resume(const PosixLayout& layout,
                                                             const segment::Manifest& manifest,
                                                             std::uint64_t file_bytes) {
  std::unique_ptr<PosixSink> sink(new PosixSink(layout, manifest, file_bytes));
  sink->kept_ = true;
  PERDURE_CHECK(check_root(layout));
  PERDURE_CHECK(sink->check_wanted());
  PERDURE_CHECK(sink->reopen(manifest));
  sink->kept_ = false;
  return sink;
}

// What is published is copied only when it is whole, and this segment. Beside a damaged one the temporary segment may
// be the only copy; its commit will set the damaged one aside.
Status PosixSink::reopen(const segment::Manifest& manifest) {
  PERDURE_TRY(const bool there, os::exists(final_));
  bool published = there;
  if (there) {
    PERDURE_TRY(const auto source, segment::open_file(final_, segment::Cached::no));
    const Status same = check_published(*source, manifest);
    if (!same && same.error().code != PERDURE_CORRUPT) return same;
    published = same.has_value();
  }
  if (published) PERDURE_CHECK(copy_published());
  if (!published) PERDURE_CHECK(take_up());
  PERDURE_TRY(const std::uint64_t size, file_.size());
  if (size > file_bytes_)
    return base::fail(
        PERDURE_CORRUPT, temporary_,
        "what was begun has " + std::to_string(size) + " bytes, the segment only " + std::to_string(file_bytes_),
        "it belongs to another way of cutting this version");
  return file_.preallocate(file_bytes_);
}

// The temporary segment that an earlier sink of this writer left.
Status PosixSink::take_up() {
  PERDURE_TRY(const auto left, temporaries_of(layout_, id_, segment_.index, segment_.count));
  Status refused = base::fail(PERDURE_NOT_FOUND, final_, "no temporary segment of it is left");
  for (const std::string& path : left) {
    auto file = os::File::open(path, os::Open::read_write);
    const Status taken = file ? lock(*file) : Status(base::fail(file.error()));
    PERDURE_TRY(const bool there, os::exists(path));
    if (!there) continue;  // removed before it was locked
    if (!taken) {
      refused = taken;
      continue;
    }
    file_ = std::move(*file);
    temporary_ = path;
    return {};
  }
  return refused;
}

// A commit that failed after its rename, or whose process died then: what is under the final name is all there is, and
// whole. It may be what others restore from, and gave up older versions for, so that it is not hidden again. A
// temporary segment beside it is a copy that was cut short.
Status PosixSink::copy_published() {
  PERDURE_TRY(os::File published, os::File::open(final_, os::Open::read));
  PERDURE_TRY(const std::uint64_t size, published.size());
  PERDURE_TRY(const auto left, temporaries_of(layout_, id_, segment_.index, segment_.count));
  for (const std::string& other : left) PERDURE_CHECK(remove_abandoned(other));
  PERDURE_CHECK(create_file());
  std::vector<std::byte> buffer(std::min(size, kWritebackBytes));
  for (std::uint64_t done = 0; done < size; done += buffer.size()) {
    const auto block = base::ByteSpan(buffer).first(std::min<std::uint64_t>(buffer.size(), size - done));
    PERDURE_CHECK(published.read(done, block));
    PERDURE_CHECK(file_.write(done, block));
  }
  return {};
}

Status PosixSink::check_range(std::uint64_t offset, std::uint64_t bytes) const {
  if (!file_) return base::fail(PERDURE_CLOSED, final_, "the segment was committed or given up already");
  if (offset <= file_bytes_ && bytes <= file_bytes_ - offset) return {};
  return base::fail(PERDURE_INVALID_ARGUMENT, final_,
                    "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                        " are outside the segment of " + std::to_string(file_bytes_) + " bytes");
}

Status PosixSink::read(std::uint64_t offset, base::ByteSpan target) {
  PERDURE_CHECK(check_range(offset, target.size()));
  return file_.read(offset, target);
}

Status PosixSink::write(std::uint64_t offset, base::ConstByteSpan data) {
  PERDURE_CHECK(check_range(offset, data.size()));
  for (std::size_t done = 0; done < data.size();) {
    const auto block = data.subspan(done, std::min<std::size_t>(kWritebackBytes, data.size() - done));
    PERDURE_CHECK(vanished(file_.write(offset + done, block)));
    file_.start_writeback(offset + done, block.size());
    done += block.size();
  }
  return {};
}

Status PosixSink::check_whole() const {
  PERDURE_TRY(std::uint64_t size, file_.size());
  if (size == file_bytes_) return {};
  return base::fail(
      PERDURE_INTERNAL, final_,
      "the segment has " + std::to_string(size) + " bytes at its commit instead of " + std::to_string(file_bytes_));
}

Status PosixSink::publish() {
  PERDURE_CHECK(check_whole());
  os::crash_point(os::CrashPoint::flush_before_sync);
  PERDURE_CHECK(file_.sync_data());
  os::crash_point(os::CrashPoint::flush_before_rename);
  Status named = os::rename_to_free(temporary_, final_);
  if (!named && named.error().code == PERDURE_EXISTS) named = accept_published();
  PERDURE_CHECK(named);
  os::crash_point(os::CrashPoint::flush_after_rename);
  return os::sync_directory(layout_.version_directory(id_));
}

Status PosixSink::accept_published() {
  PERDURE_TRY(const auto published, segment::open_file(final_, segment::Cached::no));
  PERDURE_TRY(const auto mine, segment::open_file(temporary_));
  const Status same = check_published(*published, *mine);
  if (same) {  // its writer synced it, says the protocol; this one's word must not depend on that
    PERDURE_TRY(const os::File file, os::File::open(final_, os::Open::read));
    PERDURE_CHECK(file.sync_data());
    return os::remove_file(temporary_);
  }
  if (same.error().code != PERDURE_CORRUPT) return same;
  // One reader is not believed: its own file must be whole, and a second reading see the same damage.
  if (auto defects = segment::verify(*mine, nullptr); !defects.empty()) return base::fail(defects.front().error);
  PERDURE_TRY(const auto again, segment::open_file(final_, segment::Cached::no));
  if (segment::verify(*again, nullptr).empty())
    return base::fail(PERDURE_IO, final_, "it was damaged at the first reading, and whole at the second",
                      "check this node's memory, and the file system of the store", true);
  SegmentRef damaged{segment_.index, segment_.count, segment_.attempt, {}, published->identity()};
  PERDURE_CHECK(quarantine_segment(layout_, damaged, id_, same.error()));
  return os::rename_to_free(temporary_, final_);
}

Status PosixSink::commit() {
  if (!file_) return base::fail(PERDURE_CLOSED, final_, "the segment was committed or given up already");
  Status published = vanished(publish());
  published_ = published.has_value();
  file_ = os::File();
  // At once, not in the destructor, so that a retry finds room for the next attempt.
  if (!published && !kept_) discard();
  return published;
}

// It may go because an exception goes by: nothing may leave this.
PosixSink::~PosixSink() {
  (void)base::caught(temporary_, [this]() -> base::Status {
    if (!published_ && !kept_) discard();
    return {};
  });
}

// Best effort: what cannot be deleted now is clean()'s work.
void PosixSink::discard() const {
  (void)os::remove_file(temporary_);
  (void)remove_if_empty(layout_, id_);
}

}  // namespace perdure::store
