// A segment is written in these steps, so that it is invisible or complete and durable, whenever the process or the
// machine dies:
//   1. Make <name> and <name>/<version>, each synced into its parent. (Existing ones are synced, too: their maker may
//      have died before the sync.)
//   2. Create <name>/<version>/.tmp-<writer><random>-<file name>, lock it while this process lives, and reserve its
//      room. No two writers ever have the same file, and none touches another one's leftover: its chunks may be nowhere
//      else.
//   3. Write. Long blocks go past the system's cache (O_DIRECT), as far as they begin and end at pages and the file
//      system can. All other data goes through the cache; every 8 MiB of it the system is asked to start writing back.
//      So the sync has little left to wait for.
//   4. Sync the file's data.
//   5. Check that the segments that it borrows from other versions are there (posix_borrowed.cpp). Rename it to <file
//      name>, if there is none of that name: from here on it is visible.
//   6. Sync <name>/<version>: from here on it stays visible.
// Every result is checked. A failed sync may have dropped data that a second one would not miss. So after any failure
// of 4 to 6 the segment is given up and must be written again from 1. A published segment is never overwritten. Step 5
// may find the name taken: 6 failed before, or another engine wrote the same segment. Then every byte of the existing
// one is verified. If it has the same content, it counts as written. A damaged one is set aside, and 5 done again; a
// different one is an error.
#include "store/posix_sink.hpp"

#include <algorithm>
#include <vector>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "segment/file_source.hpp"
#include "store/posix_borrowed.hpp"
#include "store/posix_quarantine.hpp"
#include "store/posix_removal.hpp"
#include "store/published.hpp"

namespace perdure::store {
namespace {

using base::Status;

constexpr std::uint64_t kWritebackBytes = 8 * base::MiB;
constexpr std::uint64_t kLeastDirectBytes = 256 * base::KiB;  // with less the cache makes fewer, longer writes
constexpr const char* kBringBack = "bring the store's directory back (is its file system mounted?)";

/// A path that is missing while we write means that the store vanished, and may return.
Status vanished(Status status) {
  if (!status && status.error().code == PERDURE_NOT_FOUND) {
    status.error().retryable = true;
    status.error().remedy = kBringBack;
  }
  return status;
}

// Below the root directories are made, but the root is not. If a file system is not mounted, that would fill the disk
// below the mount point.
Status check_root(const PosixPlace& place) {
  const auto root = place.root();
  return vanished(root ? Status() : Status(base::fail(root.error())));
}

// The lock tells others that the writer lives. If files cannot be locked, names and ages have to do.
Status lock(const os::File& file) {
  auto locked = file.try_lock();
  return locked || locked.error().code != PERDURE_BUSY ? Status() : locked;
}

// Reads another writer's segment from the device.
base::Result<std::unique_ptr<segment::ByteSource>> published_source(const os::Directory& version,
                                                                    const std::string& name) {
  PERDURE_TRY(os::File file, version.open_file(name, os::Open::read));
  return segment::open_file(std::move(file), segment::Cached::no);
}

}  // namespace

PosixSink::PosixSink(const PosixPlace& place, const segment::Manifest& manifest, std::uint64_t file_bytes)
    : place_(place),
      id_(manifest.id),
      segment_{manifest.segment_index, manifest.segment_count, manifest.id.attempt},
      file_bytes_(file_bytes),
      final_name_(segment::file_name(segment_.index, segment_.count, segment_.attempt)),
      temporary_(temporary_name(place_.layout().writer(), static_cast<std::uint32_t>(os::random_u64()), final_name_)),
      final_(place_.layout().version_directory(id_) + "/" + final_name_) {}

base::Result<std::unique_ptr<SegmentSink>> PosixSink::begin(const PosixPlace& place, const segment::Manifest& manifest,
                                                            std::uint64_t file_bytes, DirectIo direct) {
  std::unique_ptr<PosixSink> sink(new PosixSink(place, manifest, file_bytes));
  PERDURE_TRY(sink->borrowed_, segment::borrowed_of(manifest, sink->final_));
  PERDURE_CHECK(check_root(place));
  PERDURE_CHECK(sink->check_wanted());
  PERDURE_CHECK(vanished(finish_removal(place, manifest.id)));
  Status created;
  // A cleaner may remove the still empty version directory between steps 1 and 2: then it tries again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    created = sink->create();
    if (created || created.error().code != PERDURE_NOT_FOUND) break;
  }
  PERDURE_CHECK(vanished(std::move(created)));
  sink->open_direct(direct);
  return sink;
}

// If the marks cannot be read now, going on loses nothing: they hide a segment published under them.
Status PosixSink::check_wanted() const {
  const auto forgotten_ns = forgotten(place_, id_.name);
  if (!forgotten_ns || id_.attempt.created_ns > *forgotten_ns) return {};
  return base::fail(PERDURE_CLOSED, id_.text(), "it was forgotten on purpose (perdure forget)");
}

Status PosixSink::create() {
  PERDURE_TRY(const auto version, place_.make_version(id_));
  // Removes leftovers of this writer from before it was killed; if they cannot be seen or removed now, clean() does it.
  if (const auto left = temporaries_of(place_, Written::by_this_writer, version, id_, segment_.index, segment_.count))
    for (const std::string& other : *left) (void)remove_abandoned(version, other);
  PERDURE_CHECK(create_file(version));
  os::crash_point(os::CrashPoint::flush_created);
  return file_.preallocate(file_bytes_);
}

// Between its creation and its lock a file may be taken for an abandoned one, and removed: then it tries again.
Status PosixSink::create_file(const os::Directory& version) {
  for (;;) {
    PERDURE_TRY(file_, version.open_file(temporary_, os::Open::create_new));
    PERDURE_CHECK(lock(file_));
    PERDURE_TRY(const bool there, version.contains(temporary_));
    if (there) return {};
  }
}

base::Result<std::unique_ptr<SegmentSink>> PosixSink::resume(const PosixPlace& place, const segment::Manifest& manifest,
                                                             std::uint64_t file_bytes, DirectIo direct) {
  std::unique_ptr<PosixSink> sink(new PosixSink(place, manifest, file_bytes));
  PERDURE_TRY(sink->borrowed_, segment::borrowed_of(manifest, sink->final_));
  sink->kept_ = true;
  PERDURE_CHECK(check_root(place));
  PERDURE_CHECK(sink->check_wanted());
  PERDURE_CHECK(sink->reopen(manifest));
  sink->kept_ = false;
  sink->open_direct(direct);
  return sink;
}

// A published segment is copied only when it is intact, and this segment. Beside a damaged one the temporary segment
// may be the only copy; its commit will set the damaged one aside.
Status PosixSink::reopen(const segment::Manifest& manifest) {
  const auto version = place_.version(id_);
  if (!version && version.error().code == PERDURE_NOT_FOUND)
    return base::fail(PERDURE_NOT_FOUND, final_, "no temporary segment of it is left");
  if (!version) return base::fail(version.error());
  PERDURE_TRY(const bool there, version->contains(final_name_));
  bool published = there;
  if (there) {
    PERDURE_TRY(const auto source, published_source(*version, final_name_));
    Status same = check_published(*source, manifest);
    if (!same && same.error().code != PERDURE_CORRUPT) return same;
    published = same.has_value();
  }
  if (published) PERDURE_CHECK(copy_published(*version));
  if (!published) PERDURE_CHECK(take_up(*version));
  PERDURE_TRY(const std::uint64_t size, file_.size());
  if (size > file_bytes_)
    return base::fail(
        PERDURE_CORRUPT, file_.path(),
        "what was begun has " + std::to_string(size) + " bytes, the segment only " + std::to_string(file_bytes_),
        "it belongs to another way of cutting this version");
  return file_.preallocate(file_bytes_);
}

// Takes the temporary segment that an earlier sink of this writer left.
Status PosixSink::take_up(const os::Directory& version) {
  PERDURE_TRY(const auto left,
              temporaries_of(place_, Written::by_this_writer, version, id_, segment_.index, segment_.count));
  Status refused = base::fail(PERDURE_NOT_FOUND, final_, "no temporary segment of it is left");
  for (const std::string& name : left) {
    auto file = version.open_file(name, os::Open::read_write);
    const Status taken = file ? lock(*file) : Status(base::fail(file.error()));
    PERDURE_TRY(const bool there, version.contains(name));
    if (!there) continue;  // removed before it was locked
    if (!taken) {
      refused = taken;
      continue;
    }
    file_ = std::move(*file);
    temporary_ = name;
    return {};
  }
  return refused;
}

// A commit failed after its rename, or its process died then: only the final name has the content, and it is complete.
// Others may have restored from it, and given up older versions for it, so it is not hidden again. A temporary segment
// beside it is a copy that was cut short.
Status PosixSink::copy_published(const os::Directory& version) {
  PERDURE_TRY(os::File published, version.open_file(final_name_, os::Open::read));
  PERDURE_TRY(const std::uint64_t size, published.size());
  PERDURE_TRY(const auto left,
              temporaries_of(place_, Written::by_this_writer, version, id_, segment_.index, segment_.count));
  for (const std::string& other : left) PERDURE_CHECK(remove_abandoned(version, other));
  PERDURE_CHECK(create_file(version));
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

void PosixSink::open_direct(DirectIo direct) {
  if (direct == DirectIo::where_possible) direct_ = os::DirectFile::beside(file_);
  is_direct_ = static_cast<bool>(direct_);
}

/// False: none of it is certainly written. A write that the file system refused once is not tried again.
bool PosixSink::write_direct(std::uint64_t offset, base::ConstByteSpan data) {
  if (data.size() < kLeastDirectBytes || !is_direct_) return false;
  const bool written = direct_.write(offset, data);
  if (!written) is_direct_ = false;
  return written;
}

Status PosixSink::write_cached(std::uint64_t offset, base::ConstByteSpan data) const {
  for (std::size_t done = 0; done < data.size();) {
    const auto block = data.subspan(done, std::min<std::size_t>(kWritebackBytes, data.size() - done));
    PERDURE_CHECK(file_.write(offset + done, block));
    // The rest, which went through the cache, waits for the sync.
    if (block.size() >= os::DirectFile::kAlignment) file_.start_writeback(offset + done, block.size());
    done += block.size();
  }
  return {};
}

Status PosixSink::write(std::uint64_t offset, base::ConstByteSpan data) {
  PERDURE_CHECK(check_range(offset, data.size()));
  const auto aligned = data.first(os::DirectFile::aligned_part(offset, data));
  const std::size_t done = write_direct(offset, aligned) ? aligned.size() : 0;
  return vanished(write_cached(offset + done, data.subspan(done)));
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
  PERDURE_TRY(const auto version, place_.version(id_));
  PERDURE_CHECK(check_borrowed_there(version, id_.attempt, borrowed_));
  Status named = version.rename_to_free(temporary_, version, final_name_);
  if (!named && named.error().code == PERDURE_EXISTS) named = accept_published(version);
  PERDURE_CHECK(named);
  os::crash_point(os::CrashPoint::flush_after_rename);
  return version.sync();
}

Status PosixSink::accept_published(const os::Directory& version) {
  PERDURE_TRY(const auto published, published_source(version, final_name_));
  PERDURE_TRY(os::File written, version.open_file(temporary_, os::Open::read));
  PERDURE_TRY(const auto mine, segment::open_file(std::move(written)));
  Status same = check_published(*published, *mine);
  if (same) {  // the protocol says that its writer synced it; this one's word must not depend on that
    PERDURE_TRY(const os::File file, version.open_file(final_name_, os::Open::read));
    PERDURE_CHECK(file.sync_data());
    return version.remove_file(temporary_);
  }
  if (same.error().code != PERDURE_CORRUPT) return same;
  // One reader alone is not believed: its own file must be intact, and a second reading must see the same damage.
  if (auto defects = segment::verify(*mine, nullptr); !defects.empty()) return base::fail(defects.front().error);
  PERDURE_TRY(const auto again, published_source(version, final_name_));
  if (segment::verify(*again, nullptr).empty())
    return base::fail(PERDURE_IO, final_, "it was damaged at the first reading, and whole at the second",
                      "check this node's memory, and the file system of the store", true);
  SegmentRef damaged{segment_.index, segment_.count, segment_.attempt, {}, published->identity()};
  PERDURE_CHECK(quarantine_segment(place_, damaged, id_, same.error()));
  return version.rename_to_free(temporary_, version, final_name_);
}

Status PosixSink::commit() {
  if (!file_) return base::fail(PERDURE_CLOSED, final_, "the segment was committed or given up already");
  Status published = vanished(publish());
  published_ = published.has_value();
  file_ = os::File();
  direct_ = os::DirectFile();
  // Discards at once, not in the destructor, so that a retry finds room for the next attempt.
  if (!published && !kept_) discard();
  return published;
}

// It may run while an exception is in flight: none may leave this.
PosixSink::~PosixSink() {
  (void)base::caught(final_, [this]() -> base::Status {
    if (!published_ && !kept_) discard();
    return {};
  });
}

// Best effort: clean() deletes the rest.
void PosixSink::discard() const {
  if (const auto version = place_.version(id_)) (void)version->remove_file(temporary_);
  (void)remove_if_empty(place_, id_);
}

}  // namespace perdure::store
