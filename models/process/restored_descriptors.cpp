#include "process/restored_descriptors.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "process/file_maker.hpp"

namespace perdure::process {
namespace {

const PollSet* poll_set_of(const OpenFile& file) { return std::get_if<PollSet>(&file.what); }

/// Above all that the image uses.
int first_free(const OpenFiles& files) {
  int most = 2;
  for (const auto& descriptor : files.descriptors) most = std::max(most, descriptor.number);
  for (const auto& file : files.files)
    if (const auto* set = poll_set_of(file))
      for (const auto& item : set->items) most = std::max(most, item.number);
  return most + 1;
}

/// The limit that there was, where it had to be raised.
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

struct flock record_of(const FileLock& lock) {
  struct flock record {};
  record.l_type = static_cast<short>(lock.exclusive ? F_WRLCK : F_RDLCK);
  record.l_whence = SEEK_SET;
  record.l_start = static_cast<off_t>(lock.begin);
  record.l_len = static_cast<off_t>(lock.bytes);
  return record;
}

/// Those that belong to the open file, whoever has it.
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

bool is_own(const OpenFile& file) {
  return !std::holds_alternative<Terminal>(file.what) && !std::holds_alternative<Inherited>(file.what) &&
         !std::holds_alternative<LeftOut>(file.what);
}

}  // namespace

base::Result<RestoredDescriptors> RestoredDescriptors::make(const OpenFiles& files, const RestoreChoices& choices) {
  if (auto wrong = files.wrong(); !wrong.empty()) return base::fail(PERDURE_CORRUPT, "the image's descriptors", wrong);
  RestoredDescriptors restored;
  restored.choices_ = choices;
  const int above = first_free(files);
  constexpr std::size_t kOthers = 256;  // of this process, and two for each content
  PERDURE_TRY(restored.limit_,
              raise_limit(static_cast<std::size_t>(above) + files.files.size() + 2 * files.contents.size() + kOthers));
  FileMaker maker(files, choices);
  for (std::uint32_t i = 0; i < files.files.size(); ++i) {
    PERDURE_TRY(os::Fd fd, maker.make(i));
    PERDURE_TRY(os::Fd high, lifted(std::move(fd), above));
    if (is_own(files.files[i])) PERDURE_CHECK(take_locks(high.get(), files.files[i], i));
    restored.fds_.push_back(std::move(high));
    restored.files_.push_back(files.files[i]);
    if (auto* socket = std::get_if<PairSocket>(&restored.files_.back().what)) socket->unread.clear();
  }
  PERDURE_CHECK(maker.seal());
  restored.descriptors_ = files.descriptors;
  restored.notes_ = maker.take_notes();
  return restored;
}

RestoredDescriptors::RestoredDescriptors(RestoredDescriptors&& other) noexcept
    : descriptors_(std::move(other.descriptors_)),
      files_(std::move(other.files_)),
      fds_(std::move(other.fds_)),
      notes_(std::move(other.notes_)),
      choices_(std::move(other.choices_)),
      limit_(std::exchange(other.limit_, std::nullopt)) {}

RestoredDescriptors::~RestoredDescriptors() {
  if (limit_) ::setrlimit(RLIMIT_NOFILE, &*limit_);
}

namespace {

std::string name_of(std::int32_t number) { return "descriptor " + std::to_string(number); }

SystemCall call(long number, std::uint64_t first = 0, std::uint64_t second = 0, std::uint64_t third = 0,
                std::uint64_t fourth = 0) {
  return {static_cast<std::uint64_t>(number), first, second, third, fourth};
}

template <class Value>
std::uint64_t kept(Operations& operations, const Value& value) {
  return operations.keep(std::as_bytes(std::span(&value, 1)));
}

void add_watch(Operations& operations, int poll, const PollItem& item, bool may_fail) {
  epoll_event event{};
  event.events = item.events;
  event.data.u64 = item.data;
  const auto one = call(SYS_epoll_ctl, static_cast<std::uint64_t>(poll), EPOLL_CTL_ADD,
                        static_cast<std::uint64_t>(item.number), kept(operations, event));
  const std::string what = name_of(item.number) + " is watched by an epoll";
  if (may_fail)
    operations.try_to(one, what);
  else
    operations.add(one, what);
}

}  // namespace

void RestoredDescriptors::add_to(Operations& operations) const {
  watch_former(operations);
  move(operations);
  watch(operations);
  tell_owners(operations);
  lock(operations);
}

/// Files that an epoll watches by numbers that mean others now: they get those numbers first.
void RestoredDescriptors::watch_former(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto* set = poll_set_of(files_[i]);
    if (set == nullptr) continue;
    for (const auto& item : set->items) {
      if (is_current(item)) continue;
      operations.add(call(SYS_dup3, static_cast<std::uint64_t>(fds_[item.file].get()),
                          static_cast<std::uint64_t>(item.number), O_CLOEXEC),
                     name_of(item.number) + " is what an epoll watches by it", item.number);
      add_watch(operations, fds_[i].get(), item, is_replaced(item.file));
    }
  }
}

void RestoredDescriptors::move(Operations& operations) const {
  std::uint64_t next = 0;
  const auto close_from = [&](std::uint64_t begin, std::uint64_t last) {
    if (begin <= last)
      operations.add(call(SYS_close_range, begin, last),
                     "descriptors from " + std::to_string(begin) + " on are closed");
  };
  for (const auto& one : descriptors_)
    operations.add(call(SYS_dup3, static_cast<std::uint64_t>(fds_[one.file].get()),
                        static_cast<std::uint64_t>(one.number), one.close_on_exec ? O_CLOEXEC : 0),
                   name_of(one.number) + " gets its number", one.number);
  for (const auto& one : descriptors_) {
    const auto number = static_cast<std::uint64_t>(one.number);
    if (number > next) close_from(next, number - 1);
    next = number + 1;
  }
  close_from(next, ~0U);
}

void RestoredDescriptors::watch(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto* set = poll_set_of(files_[i]);
    if (set == nullptr) continue;
    for (const auto& item : set->items)
      if (is_current(item)) add_watch(operations, number_of(i), item, is_replaced(item.file));
  }
}

void RestoredDescriptors::tell_owners(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto& file = files_[i];
    if (!is_own(file) || is_left_out(i)) continue;
    const auto number = static_cast<std::uint64_t>(number_of(i));
    if (file.owner.kind != SignalOwner::Kind::nobody) {
      const bool itself = choices_.process && file.owner.id == choices_.captured;
      const int type = file.owner.kind == SignalOwner::Kind::thread    ? F_OWNER_TID
                       : file.owner.kind == SignalOwner::Kind::process ? F_OWNER_PID
                                                                       : F_OWNER_PGRP;
      const f_owner_ex owner{static_cast<__pid_type>(type), itself ? *choices_.process : file.owner.id};
      operations.add(call(SYS_fcntl, number, F_SETOWN_EX, kept(operations, owner)),
                     name_of(number_of(i)) + " sends signals");
    }
    if (file.owner.signal != 0)
      operations.add(call(SYS_fcntl, number, F_SETSIG, static_cast<std::uint64_t>(file.owner.signal)),
                     name_of(number_of(i)) + " gets its signal");
    if ((file.flags & O_ASYNC) == 0) continue;
    operations.add(
        call(SYS_fcntl, number, F_SETFL, file.flags & (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)),
        name_of(number_of(i)) + " tells when it is ready");
  }
}

/// Of the process: closing any descriptor of the file would give them back, so they come last.
void RestoredDescriptors::lock(Operations& operations) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (!is_own(files_[i]) || is_left_out(i)) continue;
    for (const auto& lock : files_[i].locks)
      if (lock.kind == FileLock::Kind::process)
        operations.add(
            call(SYS_fcntl, static_cast<std::uint64_t>(number_of(i)), F_SETLK, kept(operations, record_of(lock))),
            name_of(number_of(i)) + " gets its lock (another process may have it)");
  }
}

int RestoredDescriptors::number_of(std::size_t file) const {
  const auto found =
      std::find_if(descriptors_.begin(), descriptors_.end(), [&](const Descriptor& one) { return one.file == file; });
  return found->number;
}

bool RestoredDescriptors::is_current(const PollItem& item) const {
  return std::any_of(descriptors_.begin(), descriptors_.end(),
                     [&](const Descriptor& one) { return one.number == item.number && one.file == item.file; });
}

bool RestoredDescriptors::is_left_out(std::size_t file) const {
  return std::any_of(descriptors_.begin(), descriptors_.end(),
                     [&](const Descriptor& one) { return one.file == file && choices_.left_out.contains(one.number); });
}

bool RestoredDescriptors::is_replaced(std::size_t file) const { return !is_own(files_[file]) || is_left_out(file); }

}  // namespace perdure::process
