#include "process/image_target.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "process/remote_memory.hpp"
#include "process/shared_contents.hpp"

namespace perdure::process {
namespace {

base::Error no_image(const std::string& why) {
  return {PERDURE_MISMATCH, "image", "what is stored there is no process: " + why,
          "it is a checkpoint of a program; the program restores it", false};
}

}  // namespace

void ImageTarget::comes_from(const segment::VersionId& id) {
  coming_.id = id;
  if (lazy_) lazy_->comes_from(id);
}

std::optional<std::uint64_t> ImageTarget::wanted() { return lazy_ ? lazy_->wanted() : std::nullopt; }

void ImageTarget::drop() {
  process_.reset();
  image_.reset();
  record_.clear();
  notes_.clear();
  coming_.lent.reset();
  coming_.grown = {};
  written_ = 0;
}

base::Result<std::vector<capture::ChunkRange>> ImageTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  if (runs()) return lazy_->left();
  drop();
  entries_ = stored;
  if (stored.empty() || stored[0].kind != segment::EntryKind::opaque || stored[0].id != kRecordEntry)
    return base::fail(no_image("it does not begin with a record"));
  if (stored[0].bytes() == 0) return base::fail(no_image("its record is empty"));
  if (stored[0].bytes() > kMostRecordBytes) return base::fail(no_image("its record is too long"));
  const std::uint64_t bytes = bytes_of(stored);
  if (lazy_) lazy_->begin_anew(bytes);
  return std::vector<capture::ChunkRange>{{0, bytes}};
}

base::Status ImageTarget::write(capture::ChunkRange range, base::ConstByteSpan bytes) {
  const std::uint64_t record = entries_[0].bytes();
  const bool any_order = lazy_ && image_;
  if (range.begin != written_ && !any_order)
    return base::fail(PERDURE_INTERNAL, "image", "its bytes do not come in order");
  written_ = range.end();
  const std::uint64_t of_record = range.begin < record ? std::min(range.length, record - range.begin) : 0;
  if (of_record > 0) {
    record_.insert(record_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(of_record));
    if (record_.size() == record) PERDURE_CHECK(begin());
  }
  if (of_record < range.length) PERDURE_CHECK(write_pages(range.begin + of_record - record, bytes.subspan(of_record)));
  if (coming_.lent && written_ == bytes_of(entries_)) PERDURE_CHECK(write_lent());
  if (!lazy_) return {};
  lazy_->has_come(range);
  if (lazy_->may_be_followed()) PERDURE_CHECK(follow_lazily());
  return lazy_->may_run() ? run_lazily() : base::Status();
}

// Done before a process is made: without the lenders there will be none.
base::Status ImageTarget::find_lent() {
  if (image_->increment.lenders.empty()) return {};
  if (!borrow_)
    return base::fail(PERDURE_UNSUPPORTED, "image", "other images have pages of it",
                      "perdure resume brings it back from its store");
  PERDURE_TRY(coming_.lent, borrow_(coming_.id, image_->increment));
  if (!lazy_) return {};
  lazy_.reset();
  notes_.emplace_back("all pages came before it ran: earlier images have some of them");
  return {};
}

base::Status ImageTarget::write_lent() {
  std::uint64_t at = image_->page_bytes();
  return coming_.lent->for_each(image_->increment, [&](base::ConstByteSpan bytes) {
    const std::uint64_t begin = std::exchange(at, at + bytes.size());
    return write_pages(begin, bytes);
  });
}

base::Status ImageTarget::write_pages(std::uint64_t begin, base::ConstByteSpan bytes) {
  const auto write = [&](std::uint64_t from, base::ConstByteSpan pages) {
    return writer_->write(made_.process, from, pages,
                          [&](bool allowed) { return process_->allow_huge_pages(allowed); });
  };
  if (!lazy_) return write(begin, bytes);
  PERDURE_CHECK(lazy_->join(begin, bytes, write));
  if (runs()) os::crash_point(os::CrashPoint::lazy_placed);
  return {};
}

void ImageTarget::place_here() {
  Placement placement = place(*image_, machine_here(), affinity_);
  apply(placement, *image_);
  notes_.insert(notes_.end(), placement.notes.begin(), placement.notes.end());
  writer_.emplace(*image_, placement, machine_here());
}

base::Status ImageTarget::begin() {
  PERDURE_TRY(auto image, decode_image(record_, "image"));
  if (entries_ != entries_of(record_.size(), image))
    return base::fail(PERDURE_CORRUPT, "image", "its record says of its pages something else than the checkpoint");
  image_ = std::make_unique<ProcessImage>(std::move(image));
  Operations operations;
  PERDURE_CHECK(choose_(*image_, operations));
  PERDURE_CHECK(find_lent());
  for (auto& note : changed_contents(*image_)) notes_.push_back(std::move(note));
  place_here();
  if (affinity_.places_memory()) operations.try_to({SYS_set_mempolicy, 0, 0, 0}, "have no policy of memory of ours");
  add_operations(*image_, operations);
  files_.captured = image_->number;
  PERDURE_TRY(auto files, RestoredDescriptors::make(image_->open_files, files_));
  files.add_to(operations);
  notes_.insert(notes_.end(), files.notes().begin(), files.notes().end());
  coming_.grown = files.take_grown();
  PERDURE_TRY(auto process, NewProcess::begin(*image_, operations, numbering_));
  made_ = {process.process(), process.child()};
  process_.emplace(std::move(process));
  os::crash_point(os::CrashPoint::resume_begun);
  PERDURE_CHECK(process_->make_memory());
  os::crash_point(os::CrashPoint::resume_mapped);
  if (lazy_) begin_lazily();
  return {};
}

void ImageTarget::begin_lazily() {
  auto faults = process_->take_faults();
  // A partly filled huge page has zeros for the rest, which the process would take for its own.
  const base::Status small = faults ? process_->allow_huge_pages(false) : base::Status();
  if (faults && small)
    lazy_->know(*image_, record_.size(), std::move(*faults));
  else
    notes_.push_back("all pages came before it ran: " + (faults ? small.error() : faults.error()).text());
}

base::Status ImageTarget::follow_lazily() {
  PERDURE_CHECK(finish_process());
  PERDURE_CHECK(lazy_->follow(made_.process));
  writer_->give_by([this](std::uint64_t address, base::ConstByteSpan bytes) { return lazy_->put(address, bytes); });
  os::crash_point(os::CrashPoint::lazy_registered);
  return {};
}

base::Status ImageTarget::run_lazily() {
  PERDURE_CHECK(cut_files_back());
  PERDURE_CHECK(release());
  lazy_->begun();
  return {};
}

base::Status came_whole(bool whole) {
  if (whole) return {};
  return base::fail(PERDURE_INTERNAL, "image", "not all of its bytes came", "the process was not brought back", false);
}

base::Status ImageTarget::finish() {
  if (lazy_ && !has_ended()) {
    PERDURE_TRY(const auto left, lazy_->left());
    PERDURE_CHECK(came_whole(left.empty()));
  }
  if (!lazy_) PERDURE_CHECK(came_whole(written_ == bytes_of(entries_)));
  if (runs()) return lazy_->end();
  PERDURE_CHECK(finish_process());
  return cut_files_back();
}

// Comes after every step that may refuse the resume. Until then the captured program may still run and write these
// files.
base::Status ImageTarget::cut_files_back() {
  PERDURE_TRY(const auto notes, coming_.grown.cut_back(static_cast<std::int64_t>(coming_.id.version)));
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  coming_.grown = {};
  return {};
}

base::Status ImageTarget::finish_process() {
  if (!process_) return base::fail(PERDURE_INTERNAL, "image", "there is nothing to finish");
  os::crash_point(os::CrashPoint::resume_written);
  PERDURE_CHECK(writer_->end([&](bool allowed) { return process_->allow_huge_pages(allowed); }));
  if (lazy_) PERDURE_CHECK(process_->allow_huge_pages(!image_->no_huge_pages));
  PERDURE_CHECK(process_->finish());
  const auto& more = process_->notes();
  notes_.insert(notes_.end(), more.begin(), more.end());
  if (writer_->refused()) notes_.push_back("some pages may not be on their nodes: the system refuses them to us");
  os::crash_point(os::CrashPoint::resume_finished);
  return {};
}

base::Status ImageTarget::release() {
  if (!process_) return {};  // it already runs
  PERDURE_CHECK(process_->release());
  process_.reset();
  os::crash_point(os::CrashPoint::resume_released);
  return {};
}

namespace {

// A directory that was deleted before the capture is replaced by a new one, which is deleted too.
void go_to_directory(const std::string& directory, Operations& operations) {
  const bool deleted = was_deleted(directory) && ::access(directory.c_str(), F_OK) != 0;
  std::error_code error;
  const std::string name = "perdure-" + std::to_string(::getpid()) + "-" + std::to_string(os::monotonic_ns());
  const std::string where = deleted ? (std::filesystem::temp_directory_path(error) / name).string() : directory;
  const auto path = operations.keep(base::as_bytes(std::string_view(where.c_str(), where.size() + 1)));
  constexpr std::uint64_t kOwnersOnly = 0700;
  if (deleted) operations.add({SYS_mkdir, path, kOwnersOnly}, "make a directory in the place of '" + directory + "'");
  operations.add({SYS_chdir, path}, "go to its directory '" + directory + "'");
  if (deleted) operations.add({SYS_rmdir, path}, "delete its directory");
}

}  // namespace

void add_operations(const ProcessImage& image, Operations& operations) {
  operations.add({SYS_personality, image.personality}, "set its personality");
  go_to_directory(image.directory, operations);
  if (image.leads_session) operations.add({SYS_setsid}, "begin a session");
  operations.add({SYS_umask, image.file_mask}, "set its umask");
  if (image.no_huge_pages) operations.add({SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0}, "do without huge pages");
  if (image.reaps_orphans) operations.add({SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0}, "have it reap orphans");
  if (image.no_new_privileges)
    operations.add({SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0}, "keep it without privileges");
  for (std::uint32_t signal = 1; signal <= 64; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    const auto found = std::find_if(image.actions.begin(), image.actions.end(),
                                    [&](const SignalAction& action) { return action.signal == signal; });
    const SignalAction action = found == image.actions.end() ? SignalAction{signal, {}} : *found;
    operations.add({SYS_rt_sigaction, signal, operations.keep(bytes_of(action.action)), 0, 8},
                   "set what it does about signal " + std::to_string(signal));
  }
}

}  // namespace perdure::process
