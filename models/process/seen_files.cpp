#include "process/seen_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>

#include "os/system.hpp"
#include "process/fd_info.hpp"
#include "process/fields_of_text.hpp"
#include "process/file_details.hpp"
#include "process/file_duplicate.hpp"
#include "process/file_holders.hpp"
#include "process/kernel_ids.hpp"
#include "process/proc_text.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kUntilItIsCounted = 200'000;  // ns

std::string process_named(pid_t process) { return "process " + std::to_string(process); }

base::Result<std::vector<int>> numbers_of(pid_t process) {
  std::vector<int> numbers;
  std::error_code error;
  const std::string path = "/proc/" + std::to_string(process) + "/fd";
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    int number = 0;
    if (number_of(at->path().filename().native(), number)) numbers.push_back(number);
  }
  if (error == std::errc::permission_denied)
    return base::fail(PERDURE_PERMISSION, process_named(process), "its descriptors may not be looked at",
                      "be the same user, or have CAP_SYS_PTRACE");
  if (error) return base::fail(PERDURE_NOT_FOUND, process_named(process), "there is no such process, or it has ended");
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string link_of(pid_t process, int number) {
  std::array<char, 4097> link;
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  const auto length = ::readlink(path.c_str(), link.data(), link.size());
  return length <= 0 ? std::string() : std::string(link.data(), static_cast<std::size_t>(length));
}

/// Keeps open files in the kernel's order (kcmp), to find duplicates.
class FileOrder {
 public:
  FileOrder(pid_t process, const std::vector<SeenFile>& files) : process_(process), files_(files) {}
  /// The index of the file that `number` means, or its place in the order. find() returns nothing if the kernel does
  /// not tell.
  struct Place {
    std::size_t at = 0;
    std::optional<std::uint32_t> file = {};
  };
  std::optional<Place> find(int number) const {
    std::size_t begin = 0, end = ordered_.size();
    while (begin < end) {
      const std::size_t middle = (begin + end) / 2;
      const auto order = compare_files(process_, number, process_, files_[ordered_[middle]].numbers.front());
      if (order == Order::unknown) return std::nullopt;
      if (order == Order::same) return Place{middle, ordered_[middle]};
      (order == Order::less ? end : begin) = order == Order::less ? middle : middle + 1;
    }
    return Place{begin};
  }
  void insert(std::size_t at, std::uint32_t file) {
    ordered_.insert(ordered_.begin() + static_cast<std::ptrdiff_t>(at), file);
  }

 private:
  pid_t process_;
  const std::vector<SeenFile>& files_;
  std::vector<std::uint32_t> ordered_;
};

/// Until the kernel has counted its expiration, a timer with no time left looks disarmed.
bool may_be_about_to_expire(const std::optional<FdInfo>& info) {
  return info && info->timer && info->timer->remaining_ns == 0 && info->timer->ticks == 0;
}

/// Adds the descriptor, and its file if no earlier descriptor has it. Ignores a descriptor that is gone meanwhile.
base::Status add(SeenFiles& seen, FileOrder& order, int number) {
  const std::string path = "/proc/" + std::to_string(seen.process) + "/fdinfo/" + std::to_string(number);
  std::string text = proc_text(path);
  const std::string link = link_of(seen.process, number);
  if (text.empty() || link.empty()) return {};
  auto info = parse_fd_info(text);
  if (may_be_about_to_expire(info)) {
    os::sleep_ns(kUntilItIsCounted);
    text = proc_text(path);
    info = parse_fd_info(text);
  }
  const std::string object = process_named(seen.process) + " descriptor " + std::to_string(number);
  if (!info) return base::fail(PERDURE_UNSUPPORTED, object, "what the kernel says of it is not understood: " + text);
  const auto place = order.find(number);
  if (!place && errno == EBADF) return {};
  if (!place)
    return base::fail(errno == EPERM ? PERDURE_PERMISSION : PERDURE_UNSUPPORTED, object,
                      "the kernel does not tell which open file it means (kcmp)",
                      "be the same user, or have CAP_SYS_PTRACE; the kernel needs CONFIG_KCMP");
  const auto file = place->file.value_or(static_cast<std::uint32_t>(seen.files.size()));
  if (!place->file) {
    auto one = classified(seen.process, number, link, *info);
    if (!one) return {};
    seen.files.push_back(std::move(*one));
    order.insert(place->at, file);
  } else {
    seen.files[file].numbers.push_back(number);
  }
  seen.descriptors.push_back({number, (info->flags & O_CLOEXEC) != 0, file});
  return {};
}

/// The kernel lists locks of the process at each descriptor of the file. They stay only with the first one that could
/// take them.
void keep_locks_once(SeenFiles& seen) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<FileLock>> kept;
  const auto same = [](const FileLock& one, const FileLock& other) {
    return one.begin == other.begin && one.bytes == other.bytes;
  };
  for (auto& seen_file : seen.files) {
    const auto mode = seen_file.file.flags & O_ACCMODE;
    auto& others = kept[{seen_file.device, seen_file.inode}];
    std::erase_if(seen_file.file.locks, [&](const FileLock& lock) {
      if (lock.kind != FileLock::Kind::process) return false;
      const bool taken =
          std::any_of(others.begin(), others.end(), [&](const FileLock& one) { return same(one, lock); });
      if (taken || mode == (lock.exclusive ? O_RDONLY : O_WRONLY)) return true;
      others.push_back(lock);
      return false;
    });
  }
}

}  // namespace

base::Result<SeenFiles> look_at_files(pid_t process, const LookChoices& choices) {
  PERDURE_TRY(const auto numbers, numbers_of(process));
  PERDURE_TRY(const auto duplicates, FileDuplicates::of(process));
  SeenFiles seen;
  seen.process = process;
  FileOrder order(process, seen.files);
  for (const int number : numbers) PERDURE_CHECK(add(seen, order, number));
  keep_locks_once(seen);
  find_holders(seen, choices);  // before this process has duplicates
  for (auto& file : seen.files) PERDURE_CHECK(add_details(file, duplicates));
  find_other_ends(seen);
  find_watched(seen);
  return seen;
}

}  // namespace perdure::process
