// Makes files with names, terminals, and replacements for other files.
#include "process/file_maker.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process/reopened.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kStandard = 3;  // descriptors that every process has

std::string plain_name(const OpenFile::What& what) {
  if (const auto* file = std::get_if<NamedFile>(&what)) return "'" + file->path + "'";
  if (const auto* file = std::get_if<FifoEnd>(&what)) return "'" + file->file.path + "'";
  if (const auto* file = std::get_if<UnlinkedFile>(&what)) return "'" + file->path + "' (deleted)";
  if (const auto* file = std::get_if<Terminal>(&what)) return "'" + file->path + "'";
  if (std::holds_alternative<MemoryFile>(what)) return "a file in memory";
  if (std::holds_alternative<PipeEnd>(what)) return "a pipe";
  if (std::holds_alternative<ListeningSocket>(what)) return "a socket that listens";
  if (std::holds_alternative<PairSocket>(what)) return "a Unix socket";
  if (std::holds_alternative<EventCount>(what)) return "eventfd";
  if (std::holds_alternative<TimerFile>(what)) return "timerfd";
  if (std::holds_alternative<SignalFile>(what)) return "signalfd";
  return std::holds_alternative<PollSet>(what) ? "epoll" : "left out";
}

}  // namespace

FileMaker::FileMaker(const OpenFiles& files, const RestoreChoices& choices)
    : files_(files),
      choices_(choices),
      first_number_(files.files.size(), -1),
      contents_(files.contents.size()),
      peers_(files.files.size()) {
  for (const auto& descriptor : files.descriptors)
    if (auto& first = first_number_[descriptor.file]; first < 0) first = descriptor.number;
}

base::Result<os::Fd> FileMaker::make(std::uint32_t file) {
  const auto& descriptors = files_.descriptors;
  const bool left_out = std::any_of(descriptors.begin(), descriptors.end(), [&](const Descriptor& one) {
    return one.file == file && choices_.left_out.contains(one.number);
  });
  if (!left_out) return std::visit([&](const auto& what) { return make_of(what, file); }, files_.files[file].what);
  note(file, "it is left out, and is /dev/null");
  return null();
}

std::string FileMaker::name_of(std::uint32_t file) const {
  return "descriptor " + std::to_string(first_number_[file]) + ", " + plain_name(files_.files[file].what);
}

void FileMaker::note(std::uint32_t file, const std::string& text) { notes_.push_back(name_of(file) + ": " + text); }

base::Result<os::Fd> FileMaker::null() {
  os::Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd) return base::fail(base::errno_error(errno, "open", "/dev/null"));
  return fd;
}

base::Result<os::Fd> FileMaker::make_of(const NamedFile& what, std::uint32_t file) {
  PERDURE_TRY(const os::Fd path, found(what, name_of(file)));
  PERDURE_TRY(const auto changes, changes_of(what, path.get()));
  for (const auto& change : changes) note(file, change);
  PERDURE_TRY(os::Fd fd, reopened(path.get(), flags_of(file), name_of(file)));
  if ((flags_of(file) & O_PATH) != 0 || S_ISCHR(what.mode)) return fd;
  const auto offset = static_cast<off_t>(files_.files[file].offset);
  if (::lseek(fd.get(), offset, SEEK_SET) != offset)
    return base::fail(base::errno_error(errno, "lseek", name_of(file)));
  const bool writes = (flags_of(file) & O_ACCMODE) != O_RDONLY;
  if (choices_.cut_back && writes) PERDURE_CHECK(grown_.add(path.get(), what, name_of(file)));
  return fd;
}

/// Duplicates the descriptor of this process, and does not change its flags, which others share.
base::Result<os::Fd> FileMaker::standard(std::uint32_t file, const std::string& was) {
  const auto first = static_cast<std::size_t>(first_number_[file]);
  if (first < kStandard) {
    os::Fd fd(::fcntl(choices_.standard[first], F_DUPFD_CLOEXEC, 0));
    note(file, was + (fd ? " is descriptor " + std::to_string(choices_.standard[first]) + " of whoever resumes it"
                         : " is /dev/null: whoever resumes it has none"));
    if (fd) return fd;
  }
  return null();
}

base::Result<os::Fd> FileMaker::make_of(const Inherited& what, std::uint32_t file) { return standard(file, what.was); }

base::Result<os::Fd> FileMaker::make_of(const Terminal& what, std::uint32_t file) {
  if (static_cast<std::size_t>(first_number_[file]) < kStandard) return standard(file, what.path);
  for (const int one : choices_.standard) {
    if (::isatty(one) == 0) continue;
    note(file, what.path + " is the terminal of whoever resumes it");
    return reopened(one, flags_of(file), name_of(file));
  }
  note(file, what.path + " is /dev/null: whoever resumes it has no terminal");
  return null();
}

base::Result<os::Fd> FileMaker::make_of(const LeftOut& what, std::uint32_t file) {
  note(file, what.was + " was left out, and is /dev/null");
  return null();
}

}  // namespace perdure::process
