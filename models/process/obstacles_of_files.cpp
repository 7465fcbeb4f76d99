#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "process/obstacles.hpp"

namespace perdure::process {
namespace {

struct Refused {
  std::string_view begin;
  const char* what;
  const char* why;
};

constexpr const char* kOfAKernel = "the kernel's state behind it is not captured";
constexpr const char* kOfADevice = "what the device keeps for it is not captured";
constexpr const char* kAboutOthers = "it is about other processes";

/// The first entry applies whose text begins the link.
constexpr std::array kRefused = {
    Refused{"anon_inode:[io_uring]", "io_uring", "operations may be under way in it"},
    Refused{"anon_inode:[perf_event]", "a counter of perf", kOfAKernel},
    Refused{"anon_inode:[userfaultfd]", "userfaultfd", kOfAKernel},
    Refused{"anon_inode:inotify", "inotify", "what it watches cannot be read whole"},
    Refused{"anon_inode:[fanotify]", "fanotify", "what it watches cannot be read whole"},
    Refused{"anon_inode:bpf", "bpf", kOfAKernel},
    Refused{"anon_inode:kvm", "a virtual machine (kvm)", kOfAKernel},
    Refused{"anon_inode:[pidfd]", "a reference to a process (pidfd)", kAboutOthers},
    Refused{"pidfd:[", "a reference to a process (pidfd)", kAboutOthers},
    Refused{"anon_inode:", "of a kind that is not captured", kOfAKernel},
    Refused{"/secretmem", "secret memory (memfd_secret)", "nobody but the program may read it"},
    Refused{"/dev/nvidia", "a GPU", kOfADevice},
    Refused{"/dev/dri/", "a GPU", kOfADevice},
    Refused{"/dev/kfd", "a GPU", kOfADevice},
    Refused{"/dev/kvm", "virtual machines (kvm)", kOfAKernel},
    Refused{"/dev/mem", "the memory of the machine", kOfADevice},
    Refused{"/dev/ptmx", "the maker's side of a terminal", kAboutOthers},
    Refused{"/dev/pts/ptmx", "the maker's side of a terminal", kAboutOthers},
    Refused{"/dev/", "a device", kOfADevice},
    Refused{"/", "neither a regular file nor a directory, or without a name", kOfAKernel},
};

std::string described(const SeenFile& seen, const std::string& what) {
  std::string numbers;
  for (std::size_t i = 0; i < seen.numbers.size() && i < 4; ++i)
    numbers += (i == 0 ? "" : ", ") + std::to_string(seen.numbers[i]);
  if (seen.numbers.size() > 4) numbers += " ...";
  return std::string(seen.numbers.size() == 1 ? "descriptor " : "descriptors ") + numbers + ", " + what;
}

Obstacle of_unknown(const SeenFile& seen) {
  const auto found = std::find_if(kRefused.begin(), kRefused.end(),
                                  [&](const Refused& one) { return seen.link.starts_with(one.begin); });
  if (!seen.socket.empty()) return {seen.socket, "who is at its other end would not know of it", "", ""};
  if (found == kRefused.end()) return {"'" + seen.link + "'", kOfAKernel, "", ""};
  return {std::string(found->what) + " ('" + seen.link + "')", found->why, "", ""};
}

std::string named_all(const std::vector<pid_t>& processes) {
  std::string all = processes.size() == 1 ? "process" : "processes";
  for (const pid_t one : processes) all += " " + std::to_string(one);
  return all;
}

bool is_of_others(const SignalOwner& owner, pid_t process) {
  return owner.kind != SignalOwner::Kind::nobody && owner.id != process;
}

/// Returns the first obstacle of a file, if any.
std::optional<Obstacle> of_known(const SeenFile& seen, pid_t process) {
  const std::string name = "'" + seen.link + "'";
  const std::string other_end = "its other end is open in other processes, which would not know of a new one";
  if (!seen.socket.empty()) return Obstacle{seen.socket, "only pairs of them within a process are captured", "", ""};
  if (!seen.holders.empty())
    return Obstacle{name + ", which " + named_all(seen.holders) + " has open, too", "that would not know of a new one",
                    "capture these with it (--tree), or end them", ""};
  if (seen.other_end_missing) return Obstacle{name, other_end, "", ""};
  if (seen.name_lost)
    return Obstacle{name, "its name leads to another file by now, or to none, and the file has other names", "", ""};
  if (seen.on_huge_pages) return Obstacle{name, "it is in hugetlbfs, which is not captured", "", ""};
  if (seen.lease) return Obstacle{name, "it has a lease (F_SETLEASE), which is not captured", "", ""};
  if (seen.error_waits) return Obstacle{name, "an error waits in it, which nobody can look at", "try again", ""};
  if (!seen.passing.empty()) return Obstacle{name, seen.passing, "try again", ""};
  if (seen.carries_files) return Obstacle{name, "descriptors are on their way through it", "try again", ""};
  if (seen.watches_unseen) return Obstacle{name, "it watches a file that no descriptor of the process means", "", ""};
  const auto* named = std::get_if<NamedFile>(&seen.file.what);
  if (named != nullptr && S_ISDIR(named->mode) && seen.file.owner.kind != SignalOwner::Kind::nobody)
    return Obstacle{name, "it is told of changes there (F_NOTIFY), which of them nobody can look at", "", ""};
  if (is_of_others(seen.file.owner, process))
    return Obstacle{name, "it sends signals to process, thread or group " + std::to_string(seen.file.owner.id), "", ""};
  if (seen.link.starts_with("/proc/" + std::to_string(process) + "/"))
    return Obstacle{name, "it is about the process as it is now", "", ""};
  return std::nullopt;
}

bool leads_outside(const SeenFile& seen) {
  const auto& what = seen.file.what;
  const bool can = std::holds_alternative<PipeEnd>(what) || std::holds_alternative<FifoEnd>(what) ||
                   std::holds_alternative<PairSocket>(what);
  return can && (!seen.holders.empty() || seen.other_end_missing);
}

}  // namespace

void settle(SeenFiles& files, const std::set<int>& left_out) {
  constexpr int kLastStandard = 2;
  for (auto& seen : files.files) {
    const bool out =
        std::any_of(seen.numbers.begin(), seen.numbers.end(), [&](int number) { return left_out.contains(number); });
    const bool inherited = !out && seen.numbers.front() <= kLastStandard && leads_outside(seen);
    if (!out && !inherited) continue;
    seen.known = true;
    seen.content_bytes = 0;
    seen.file.owner = {};
    seen.file.locks.clear();
    if (out) seen.file.what = LeftOut{seen.link};
    if (inherited) seen.file.what = Inherited{seen.link};
  }
}

std::vector<Obstacle> obstacles_of_files(const SeenFiles& files) {
  std::vector<Obstacle> all;
  std::uint64_t content = 0;
  for (const auto& seen : files.files) {
    if (seen.known &&
        (std::holds_alternative<LeftOut>(seen.file.what) || std::holds_alternative<Inherited>(seen.file.what)))
      continue;
    content += seen.content_bytes;
    auto one = seen.known ? of_known(seen, files.process) : std::optional(of_unknown(seen));
    if (!one && content > OpenFiles::kMostContentBytes)
      one = Obstacle{"'" + seen.link + "'", "unlinked files, and those in memory, have more than 1 GiB", "", ""};
    if (!one) continue;
    one->what = described(seen, one->what);
    one->drop = "fd:" + std::to_string(seen.numbers.front());
    all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace perdure::process
