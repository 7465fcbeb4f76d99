#include "process/grown_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "process/fd_info.hpp"
#include "process/fields_of_text.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

/// Returns this process and its ancestors.
std::set<pid_t> own_line() {
  std::set<pid_t> line;
  pid_t process = ::getpid();
  while (process > 0 && line.insert(process).second) {
    const std::string status = proc_text("/proc/" + std::to_string(process) + "/status");
    const auto parent = value_of(status, "PPid");
    if (!parent || !number_of(*parent, process)) break;
  }
  return line;
}

bool has_it_for_writing(const std::string& process_directory, int number) {
  const auto info = parse_fd_info(proc_text(process_directory + "/fdinfo/" + std::to_string(number)));
  return info && (info->flags & O_PATH) == 0 && (info->flags & O_ACCMODE) != O_RDONLY;
}

std::string name_of_process(pid_t process) {
  std::string name = proc_text("/proc/" + std::to_string(process) + "/comm");
  name.erase(std::min(name.find('\n'), name.size()));
  return "process " + std::to_string(process) + (name.empty() ? "" : " (" + name + ")");
}

/// Makes a new file beside `path`. Two resumes of one version each keep their own copy.
base::Result<os::File> make_copy(const std::string& path, std::int64_t version) {
  const std::string plain = path + ".cut-" + std::to_string(version);
  constexpr int kMost = 10000;
  for (int number = 1; number < kMost; ++number) {
    auto made = os::File::open(number == 1 ? plain : plain + "." + std::to_string(number), os::Open::create_new);
    if (made || made.error().code != PERDURE_EXISTS) return made;
  }
  return base::fail(PERDURE_EXISTS, plain, "there are " + std::to_string(kMost) + " files of that name",
                    "remove those that nobody needs");
}

base::Status copy_tail(const os::File& from, std::uint64_t begin, const os::File& to) {
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  for (std::uint64_t at = begin;;) {
    PERDURE_TRY(const std::size_t got, from.read_some(at, buffer));
    if (got == 0) return to.sync();
    PERDURE_CHECK(to.write(at - begin, base::ConstByteSpan(buffer).first(got)));
    at += got;
  }
}

/// Gives readers of the file access to the tail.
void give_permissions(const os::File& from, const os::File& to) {
  struct stat facts {};
  if (::fstat(from.fd(), &facts) == 0) (void)::fchmod(to.fd(), facts.st_mode & 0777);
}

base::Error not_kept(const std::string& object, const base::Error& why) {
  base::Error error = why;
  error.object = object;
  error.cause = "what was written to it after the capture cannot be kept: " + why.object + ": " + why.cause;
  error.remedy = "make room or allow files in its directory; or resume without cutting files back. No file was changed";
  return error;
}

}  // namespace

base::Status GrownFiles::add(int fd, const NamedFile& file, const std::string& object) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  if (static_cast<std::uint64_t>(facts.st_size) <= file.size) return {};
  const auto is_known = [&](const Grown& one) {
    return one.identity.device == facts.st_dev && one.identity.inode == facts.st_ino;
  };
  if (std::any_of(files_.begin(), files_.end(), is_known)) return {};
  os::Fd own(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC));
  if (!own) return base::fail(base::errno_error(errno, "open to read and write, to cut it back", object));
  Grown grown{os::File::adopt(std::move(own), file.path), file.size, {}, object};
  PERDURE_TRY(grown.identity, grown.file.identity());
  files_.push_back(std::move(grown));
  return {};
}

base::Status GrownFiles::check_writers() const {
  if (files_.empty()) return {};
  const std::set<pid_t> line = own_line();
  base::Status found;
  each_number_in("/proc", [&](pid_t process) {
    if (!found || line.contains(process)) return;
    const std::string directory = "/proc/" + std::to_string(process);
    each_number_in(directory + "/fd", [&](int number) {
      struct stat facts {};
      if (!found || ::stat((directory + "/fd/" + std::to_string(number)).c_str(), &facts) != 0) return;
      for (const Grown& one : files_) {
        if (one.identity.device != facts.st_dev || one.identity.inode != facts.st_ino) continue;
        if (!has_it_for_writing(directory, number)) return;
        found = base::fail(PERDURE_BUSY, one.object, name_of_process(process) + " has it open for writing",
                           "end that process, or resume without cutting files back; no file was changed", true);
      }
    });
  });
  return found;
}

base::Result<std::vector<std::string>> GrownFiles::cut_back(std::int64_t version) const {
  std::vector<os::File> copies;
  const auto forget_copies = [&] {
    for (const os::File& copy : copies) (void)os::remove_file(copy.path());
  };
  for (const Grown& one : files_) {
    auto copy = make_copy(one.file.path(), version);
    base::Status kept;
    if (!copy) kept = base::fail(copy.error());
    if (copy) {
      copies.push_back(std::move(*copy));
      kept = copy_tail(one.file, one.bytes, copies.back());
      give_permissions(one.file, copies.back());
      if (kept) kept = os::sync_directory(std::filesystem::path(one.file.path()).parent_path());
    }
    if (kept) continue;
    forget_copies();
    return base::fail(not_kept(one.object, kept.error()));
  }
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    PERDURE_TRY(const std::uint64_t now, files_[i].file.size());
    if (now > files_[i].bytes) PERDURE_CHECK(files_[i].file.truncate(files_[i].bytes));
    notes.push_back(files_[i].object + ": it was cut back to the " + std::to_string(files_[i].bytes) +
                    " bytes that it had; what followed is in '" + copies[i].path() + "'");
  }
  return notes;
}

}  // namespace perdure::process
