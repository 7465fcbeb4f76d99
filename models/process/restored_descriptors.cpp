#include "process/restored_descriptors.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "process/file_maker.hpp"
#include "process/reopened.hpp"

namespace perdure::process {
namespace {

/// Returns a number above all that the image uses.
int first_free(const OpenFiles& files) {
  int most = 2;
  for (const auto& descriptor : files.descriptors) most = std::max(most, descriptor.number);
  for (const auto& file : files.files)
    if (const auto* set = std::get_if<PollSet>(&file.what))
      for (const auto& item : set->items) most = std::max(most, item.number);
  return most + 1;
}

/// Returns the old limit, if it had to be raised.
base::Result<std::optional<rlimit>> raise_limit(std::size_t needed) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= needed) return std::nullopt;
  const rlimit more{needed, std::max<rlim_t>(needed, now.rlim_max)};
  if (::setrlimit(RLIMIT_NOFILE, &more) == 0) return now;
  return base::fail(PERDURE_NO_SPACE, "the image's descriptors",
                    "they need a limit of " + std::to_string(needed) + " open files, and this process may have " +
                        std::to_string(now.rlim_max),
                    "raise the limit of open files (ulimit -n)");
}

base::Result<os::Fd> lifted(os::Fd fd, int above) {
  os::Fd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, above));
  if (!moved) return base::fail(base::errno_error(errno, "F_DUPFD_CLOEXEC", "a descriptor"));
  return moved;
}

/// Takes locks that belong to the open file, independent of the process.
base::Status take_locks(int fd, const OpenFile& file, std::size_t index) {
  for (const auto& lock : file.locks) {
    int answer = 0;
    const auto record = record_of(lock);
    if (lock.kind == FileLock::Kind::whole) answer = ::flock(fd, (lock.exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
    if (lock.kind == FileLock::Kind::open_file) answer = ::fcntl(fd, F_OFD_SETLK, &record);
    if (answer == 0) continue;
    const auto* named = std::get_if<NamedFile>(&file.what);
    const std::string object = named != nullptr ? named->path : "open file " + std::to_string(index);
    if (errno == EAGAIN || errno == EACCES)
      return base::fail(PERDURE_BUSY, object, "another process has a lock that it had", "end that one", true);
    return base::fail(base::errno_error(errno, "lock", object));
  }
  return {};
}

}  // namespace

base::Result<RestoredDescriptors> RestoredDescriptors::make(const OpenFiles& files, const RestoreChoices& choices) {
  if (auto wrong = files.wrong(); !wrong.empty()) return base::fail(PERDURE_CORRUPT, "the image's descriptors", wrong);
  return make_together(files, choices);
}

base::Result<RestoredDescriptors> RestoredDescriptors::make_together(const OpenFiles& files,
                                                                     const RestoreChoices& choices) {
  RestoredDescriptors restored;
  restored.choices_ = choices;
  const int above = first_free(files);
  restored.unused_ = above;
  constexpr std::size_t kOthers = 256;  // descriptors of this process, and two for each content
  PERDURE_TRY(restored.limit_, raise_limit(static_cast<std::size_t>(above) + files.files.size() +
                                           files.descriptors.size() + 2 * files.contents.size() + kOthers));
  FileMaker maker(files, choices);
  for (std::uint32_t i = 0; i < files.files.size(); ++i) {
    PERDURE_TRY(os::Fd fd, maker.make(i));
    PERDURE_TRY(os::Fd high, lifted(std::move(fd), above));
    if (!files.files[i].is_replaced()) PERDURE_CHECK(take_locks(high.get(), files.files[i], i));
    restored.fds_.push_back(std::move(high));
    restored.files_.push_back(files.files[i]);
    if (auto* socket = std::get_if<PairSocket>(&restored.files_.back().what)) socket->unread.clear();
  }
  PERDURE_CHECK(maker.seal());
  restored.descriptors_ = files.descriptors;
  restored.notes_ = maker.take_notes();
  restored.grown_ = maker.take_grown();
  PERDURE_CHECK(restored.grown_.check_writers());
  return restored;
}

base::Result<RestoredDescriptors> RestoredDescriptors::part(const Part& part) const {
  RestoredDescriptors own;
  own.choices_ = choices_;
  own.descriptors_ = part.files->descriptors;
  own.files_ = part.files->files;
  own.kept_ = part.kept;
  own.unused_ = unused_;
  for (std::size_t i = 0; i < own.files_.size(); ++i) {
    os::Fd same(::fcntl(fds_[(*part.of)[i]].get(), F_DUPFD_CLOEXEC, unused_));
    if (!same) return base::fail(base::errno_error(errno, "F_DUPFD_CLOEXEC", "a descriptor"));
    own.fds_.push_back(std::move(same));
    if (auto* socket = std::get_if<PairSocket>(&own.files_[i].what)) socket->unread.clear();
    if (auto* set = std::get_if<PollSet>(&own.files_[i].what); set != nullptr && !(*part.watches)[i])
      set->items.clear();
  }
  return own;
}

RestoredDescriptors::RestoredDescriptors(RestoredDescriptors&& other) noexcept
    : descriptors_(std::move(other.descriptors_)),
      files_(std::move(other.files_)),
      fds_(std::move(other.fds_)),
      notes_(std::move(other.notes_)),
      grown_(std::move(other.grown_)),
      choices_(std::move(other.choices_)),
      limit_(std::exchange(other.limit_, std::nullopt)),
      kept_(std::move(other.kept_)),
      unused_(other.unused_) {}

RestoredDescriptors::~RestoredDescriptors() {
  if (limit_) ::setrlimit(RLIMIT_NOFILE, &*limit_);
}

}  // namespace perdure::process
