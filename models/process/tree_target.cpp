#include "process/tree_target.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "os/crash_point.hpp"
#include "process/shared_contents.hpp"

namespace perdure::process {
namespace {

/// Returns whether this process is in the terminal's foreground group; no other group could read its input.
bool has_terminal() {
  const os::Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  return terminal && ::tcgetpgrp(terminal.get()) == ::getpgrp();
}

/// Returns the kin of the image, but with our group instead of the root's.
std::vector<Kin> kin_with_our_group(const TreeImage& tree) {
  std::vector<Kin> kin = tree.all_kin();
  const Kin root = kin.front();
  for (Kin& one : kin)
    if (one.group == root.group && one.session == root.session) one.group = 0;
  return kin;
}

bool leads_group_only(const Kin& root) { return root.group == root.number && root.session != root.number; }

using Place = std::pair<std::uint32_t, std::uint32_t>;  // process and index

}  // namespace

void TreeTarget::drop() {
  processes_.reset();
  writers_.clear();
  objects_.clear();
  shared_.clear();
  ends_.clear();
  image_.reset();
  record_.clear();
  notes_.clear();
  grown_ = {};
  written_ = 0;
}

base::Result<std::vector<capture::ChunkRange>> TreeTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  drop();
  entries_ = stored;
  if (!is_tree(stored) || stored[0].kind != segment::EntryKind::opaque || stored[0].id != kRecordEntry ||
      stored[0].bytes() == 0 || stored[0].bytes() > kMostRecordBytes)
    return base::fail(PERDURE_MISMATCH, "image", "what is stored there is no tree of processes",
                      "it is a checkpoint of a program; the program restores it");
  return std::vector<capture::ChunkRange>{{0, bytes_of(stored)}};
}

base::Status TreeTarget::write(capture::ChunkRange range, base::ConstByteSpan bytes) {
  if (range.begin != written_) return base::fail(PERDURE_INTERNAL, "image", "its bytes do not come in order");
  const std::uint64_t record = entries_[0].bytes();
  const std::uint64_t of_record = range.begin < record ? std::min(range.length, record - range.begin) : 0;
  if (of_record > 0) {
    record_.insert(record_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(of_record));
    if (record_.size() == record) PERDURE_CHECK(begin());
  }
  std::uint64_t begin = 0;
  written_ += of_record;
  for (std::size_t i = 0; i < ends_.size(); begin = ends_[i++]) {
    const std::uint64_t at = written_ - record, end = std::min(range.end() - record, ends_[i]);
    if (written_ < record || at >= end) continue;
    NewProcess& process = processes_->process(i);
    PERDURE_CHECK(writers_[i].write(process.process(), at - begin, bytes.subspan(written_ - range.begin, end - at),
                                    [&](bool allowed) { return process.allow_huge_pages(allowed); }));
    written_ = record + end;
  }
  return {};
}

void TreeTarget::note_of(std::size_t process, const std::vector<std::string>& notes) {
  for (const auto& note : notes) notes_.push_back(process_text(image_->processes[process].number) + ": " + note);
}

base::Status TreeTarget::begin() {
  PERDURE_TRY(auto image, decode_tree(record_, "image"));
  if (entries_ != entries_of_tree(record_.size(), image))
    return base::fail(PERDURE_CORRUPT, "image", "its record says of its pages something else than the checkpoint");
  image_ = std::make_unique<TreeImage>(std::move(image));
  std::vector<Operations> operations(image_->processes.size());
  PERDURE_CHECK(prepare(operations));
  PERDURE_CHECK(make_descriptors(operations));
  return make_memory();
}

base::Status TreeTarget::prepare(std::vector<Operations>& operations) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < image_->processes.size(); ++i) {
    ProcessImage& image = image_->processes[i];
    PERDURE_CHECK(choose_(image, operations[i]));
    note_of(i, changed_contents(image));
    Placement placement = place(image, machine_here(), affinity_);
    apply(placement, image);
    note_of(i, placement.notes);
    writers_.emplace_back(image, placement, machine_here());
    ends_.push_back(end += image.page_bytes());
    if (affinity_.places_memory())
      operations[i].try_to({SYS_set_mempolicy, 0, 0, 0}, "have no policy of memory of ours");
    ProcessImage alike = image;  // sessions begin while they are made
    alike.leads_session = false;
    add_operations(alike, operations[i]);
  }
  return {};
}

base::Status TreeTarget::make_descriptors(std::vector<Operations>& operations) {
  PERDURE_TRY(const TreeFiles files, files_of_tree(*image_));
  PERDURE_TRY(auto all, RestoredDescriptors::make_together(files.files, files_));
  grown_ = all.take_grown();
  notes_.insert(notes_.end(), all.notes().begin(), all.notes().end());
  objects_.resize(image_->processes.size());
  PERDURE_CHECK(make_objects(files, all));
  std::vector<RestoredDescriptors> parts;
  for (std::size_t i = 0; i < image_->processes.size(); ++i) {
    RestoredDescriptors::Part part{&image_->processes[i].open_files, &files.of[i], &files.is_first[i], {}};
    for (const auto& [object, descriptor] : objects_[i]) part.kept.push_back(static_cast<int>(descriptor));
    std::sort(part.kept.begin(), part.kept.end());
    PERDURE_TRY(auto its, all.part(part));
    its.add_to(operations[i]);
    parts.push_back(std::move(its));
  }
  std::vector<Kin> kin = image_->all_kin();
  if (leads_group_only(kin.front()) && has_terminal()) {
    kin = kin_with_our_group(*image_);
    notes_.push_back("its group is that of whoever resumes it, who has the terminal");
  }
  PERDURE_TRY(auto processes, NewTree::begin(*image_, kin, operations));
  processes_.emplace(std::move(processes));
  os::crash_point(os::CrashPoint::resume_begun);
  return {};
}

// Memory that several processes share is a memfd that all get from this process, or an open file of one of them.
base::Status TreeTarget::make_objects(const TreeFiles& files, const RestoredDescriptors& all) {
  std::map<Place, Place> firsts;
  std::set<Place> several;
  for (const auto& one : image_->objects) {
    const Place link{one.of_process, one.of_thing};
    const auto known = firsts.find(link);
    const Place first = known == firsts.end() ? link : known->second;
    firsts[{one.process, one.thing}] = first;
    several.insert(first);
  }
  for (const Place& first : several) firsts[first] = first;
  std::map<Place, std::uint64_t> sizes;
  for (const auto& [object, first] : firsts)
    sizes[first] = std::max(sizes[first], image_->processes[object.first].object_bytes(object.second + 1));
  const auto keep = [&](os::Fd fd, const char* call) -> base::Result<int> {
    os::Fd high(fd ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, all.unused()) : -1);
    if (!high) return base::fail(base::errno_error(errno, call, "shared memory"));
    shared_.push_back(std::move(high));
    return shared_.back().get();
  };
  std::map<Place, int> made;
  for (const auto& [first, bytes] : sizes) {
    PERDURE_TRY(made[first], keep(os::Fd(::memfd_create(kSharedMemory, MFD_CLOEXEC)), "memfd_create"));
    if (::ftruncate(made[first], static_cast<off_t>(bytes)) != 0)
      return base::fail(base::errno_error(errno, "ftruncate", "shared memory"));
  }
  for (const auto& [object, first] : firsts) objects_[object.first][object.second + 1] = made[first];
  for (const auto& one : image_->mapped) {
    const auto content = files.content_of[one.of_process][one.of_thing];
    const auto file = std::find_if(files.files.files.begin(), files.files.files.end(), [&](const OpenFile& other) {
      const auto* memory = std::get_if<MemoryFile>(&other.what);
      const auto* unlinked = std::get_if<UnlinkedFile>(&other.what);
      return (other.flags & O_ACCMODE) == O_RDWR && ((memory != nullptr && memory->content == content) ||
                                                     (unlinked != nullptr && unlinked->content == content));
    });
    if (file == files.files.files.end())
      return base::fail(PERDURE_CORRUPT, "image", "shared memory is a file that nobody has open for writing");
    const int descriptor = all.descriptor(static_cast<std::size_t>(file - files.files.files.begin()));
    PERDURE_TRY(objects_[one.process][one.thing + 1],
                keep(os::Fd(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)), "F_DUPFD_CLOEXEC"));
  }
  return {};
}

base::Status TreeTarget::make_memory() {
  for (std::size_t i = 0; i < objects_.size(); ++i) PERDURE_CHECK(processes_->process(i).make_memory(objects_[i]));
  shared_.clear();
  os::crash_point(os::CrashPoint::resume_mapped);
  return {};
}

base::Status TreeTarget::finish() {
  if (!processes_) return base::fail(PERDURE_INTERNAL, "image", "there is nothing to finish");
  PERDURE_CHECK(came_whole(written_ == bytes_of(entries_)));
  os::crash_point(os::CrashPoint::resume_written);
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    NewProcess& process = processes_->process(i);
    PERDURE_CHECK(writers_[i].end([&](bool allowed) { return process.allow_huge_pages(allowed); }));
    PERDURE_CHECK(process.finish());
    note_of(i, process.notes());
    if (writers_[i].refused()) note_of(i, {"some pages may not be on their nodes: the system refuses them to us"});
  }
  PERDURE_TRY(const auto notes, grown_.cut_back(version_));
  notes_.insert(notes_.end(), notes.begin(), notes.end());
  os::crash_point(os::CrashPoint::resume_finished);
  return {};
}

base::Status TreeTarget::release() {
  PERDURE_CHECK(processes_->release());
  processes_.reset();
  os::crash_point(os::CrashPoint::resume_released);
  return {};
}

}  // namespace perdure::process
