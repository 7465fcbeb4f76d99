#include <algorithm>
#include <array>

#include "process/obstacles.hpp"

namespace perdure::process {
namespace {

struct RefusedMap {
  std::string_view begin;
  const char* what;
  const char* why;
};

constexpr const char* kBehindTheMap = "the kernel's state behind it is not captured";
constexpr const char* kOfItsDevice = "what the device keeps for it is not captured";

/// The first entry applies whose text begins the name.
constexpr std::array kRefusedMaps = {
    RefusedMap{"/secretmem", "secret memory (memfd_secret)", "nobody but the program may read it"},
    RefusedMap{"/SYSV", "System V shared memory", "other processes may have it, and it stays when they end"},
    RefusedMap{"anon_inode:[io_uring]", "rings of io_uring", "operations may be under way in it"},
    RefusedMap{"/[aio]", "a ring of asynchronous I/O", "operations may be under way in it"},
    RefusedMap{"anon_inode:[perf_event]", "counters of perf", kBehindTheMap},
    RefusedMap{"anon_inode:", "memory of the kernel", kBehindTheMap},
    RefusedMap{"socket:[", "memory of a socket", kBehindTheMap},
    RefusedMap{"/dmabuf:", "memory of a device", kOfItsDevice},
    RefusedMap{"/anon_hugepage", "huge pages of hugetlbfs", "they are not brought back"},
    RefusedMap{"/dev/hugepages/", "huge pages of hugetlbfs", "they are not brought back"},
    RefusedMap{"/dev/nvidia", "memory of a GPU", kOfItsDevice},
    RefusedMap{"/dev/dri/", "memory of a GPU", kOfItsDevice},
    RefusedMap{"[uprobes]", "a probe of perf or bpf", "instructions of it are replaced"},
};

bool is_device(const std::string& name) {
  constexpr std::array<std::string_view, 2> kPlain = {"/dev/shm/", "/dev/zero"};
  const bool plain =
      std::any_of(kPlain.begin(), kPlain.end(), [&](std::string_view one) { return name.starts_with(one); });
  return name.starts_with("/dev/") && !plain;
}

bool is_open(const MemoryMap& map, const SeenFiles& files) {
  return std::any_of(files.files.begin(), files.files.end(), [&](const SeenFile& one) {
    const bool carried =
        std::holds_alternative<UnlinkedFile>(one.file.what) || std::holds_alternative<MemoryFile>(one.file.what);
    return carried && one.inode == map.inode && one.link == map.name;
  });
}

void add_map(const MemoryMap& map, const SeenFiles& files, std::vector<Obstacle>& all) {
  const auto add = [&](const std::string& what, const std::string& why, const std::string& remedy) {
    Obstacle one{"its memory map '" + map.name + "', " + what, why, remedy, ""};
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  };
  const auto refused = std::find_if(kRefusedMaps.begin(), kRefusedMaps.end(),
                                    [&](const RefusedMap& one) { return map.name.starts_with(one.begin); });
  if (refused != kRefusedMaps.end()) return add(refused->what, refused->why, "");
  if (is_device(map.name)) return add("memory of a device", kOfItsDevice, "");
  const bool deleted = map.shared && map.name.ends_with(" (deleted)") && !is_shared_without_file(map.name);
  if (deleted && !is_open(map, files) && !files.nameless.contains(mapped_file(map)))
    add("which it shares, of a file that has no name and no descriptor",
        "another process has that file, too, or it has other names", "capture those with it (--tree), or end them");
}

}  // namespace

std::vector<Obstacle> obstacles_of_maps(const std::vector<MemoryMap>& maps, const SeenFiles& files) {
  std::vector<Obstacle> all;
  for (const auto& map : maps) add_map(map, files, all);
  return all;
}

}  // namespace perdure::process
