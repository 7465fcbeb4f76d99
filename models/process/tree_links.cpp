#include "process/tree_links.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "process/kernel_ids.hpp"

namespace perdure::process {
namespace {

using Inode = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
using Place = std::pair<std::uint32_t, std::uint32_t>;  // process and index

bool is_pipe(const SeenFile& one) {
  return std::holds_alternative<PipeEnd>(one.file.what) || std::holds_alternative<FifoEnd>(one.file.what);
}

std::optional<std::uint32_t> content_of(const OpenFile& file) {
  if (const auto* one = std::get_if<UnlinkedFile>(&file.what)) return one->content;
  if (const auto* one = std::get_if<MemoryFile>(&file.what)) return one->content;
  if (const auto* one = std::get_if<PipeEnd>(&file.what)) return one->content;
  if (const auto* one = std::get_if<FifoEnd>(&file.what)) return one->content;
  return std::nullopt;
}

/// Keeps open files of several processes in the kernel's order (kcmp).
class OrderOfFiles {
 public:
  explicit OrderOfFiles(const std::vector<SeenFiles>& files) : files_(files) {}
  /// Returns the same open file if it was added before, otherwise `place` itself.
  base::Result<Place> add(Place place) {
    std::size_t begin = 0, end = ordered_.size();
    while (begin < end) {
      const std::size_t middle = (begin + end) / 2;
      const Place other = ordered_[middle];
      const auto order = compare_files(process(place), number(place), process(other), number(other));
      if (order == Order::same) return other;
      if (order == Order::unknown)
        return base::fail(PERDURE_PERMISSION, "process " + std::to_string(process(place)),
                          "the kernel does not tell which open files it has together with others (kcmp)");
      (order == Order::less ? end : begin) = order == Order::less ? middle : middle + 1;
    }
    ordered_.insert(ordered_.begin() + static_cast<std::ptrdiff_t>(begin), place);
    return place;
  }

 private:
  pid_t process(Place place) const { return files_[place.first].process; }
  int number(Place place) const { return files_[place.first].files[place.second].numbers.front(); }
  const std::vector<SeenFiles>& files_;
  std::vector<Place> ordered_;
};

class Linking {
 public:
  Linking(TreeImage& tree, const std::vector<SeenFiles>& files, const std::vector<std::vector<MemoryMap>>& maps)
      : tree_(tree), files_(files), maps_(maps) {}
  base::Status link() {
    PERDURE_CHECK(link_files());
    link_contents();
    link_peers();
    link_objects();
    return {};
  }

 private:
  OpenFiles& open(std::uint32_t process) { return tree_.processes[process].open_files; }
  static SameThing link_of(Place one, Place first) { return {one.first, one.second, first.first, first.second}; }

  // Unread data of a socket is kept by the first process that has it.
  base::Status link_files() {
    OrderOfFiles order(files_);
    for (std::uint32_t i = 0; i < files_.size(); ++i)
      for (std::uint32_t at = 0; at < files_[i].files.size(); ++at) {
        PERDURE_TRY(const Place first, order.add({i, at}));
        if (first == Place(i, at)) continue;
        OpenFile &file = open(i).files[at], &same = open(first.first).files[first.second];
        if (file.what.index() != same.what.index())
          return base::fail(PERDURE_UNSUPPORTED, "process " + std::to_string(files_[i].process),
                            "descriptor " + std::to_string(files_[i].files[at].numbers.front()) +
                                " is left out there, and kept in process " +
                                std::to_string(files_[first.first].process),
                            "name its number in both by --force-without");
        if (auto* socket = std::get_if<PairSocket>(&file.what)) socket->unread.clear();
        tree_.files.push_back(link_of({i, at}, first));
      }
    return {};
  }

  // A pipe is read through read-only ends. The content that has data, if any, is kept.
  void link_contents() {
    std::set<Place> seen;
    for (std::uint32_t i = 0; i < files_.size(); ++i)
      for (std::uint32_t at = 0; at < files_[i].files.size(); ++at) {
        const auto index = content_of(open(i).files[at]);
        const SeenFile& file = files_[i].files[at];
        if (!index || !seen.emplace(i, *index).second) continue;
        const auto [first, is_new] = contents_.try_emplace({file.device, file.inode}, i, *index);
        if (is_new) continue;
        FileContent &own = open(i).contents[*index], &kept = open(first->second.first).contents[first->second.second];
        if (kept.runs.empty()) std::swap(kept.runs, own.runs);
        own.runs.clear();
        tree_.contents.push_back(link_of({i, *index}, first->second));
      }
  }

  void link_peers() {
    std::map<std::uint64_t, Place> sockets;
    const auto is_socket = [&](std::uint32_t i, std::uint32_t at) {
      return std::holds_alternative<PairSocket>(open(i).files[at].what);
    };
    for (std::uint32_t i = 0; i < files_.size(); ++i)
      for (std::uint32_t at = 0; at < files_[i].files.size(); ++at)
        if (is_socket(i, at)) sockets.try_emplace(files_[i].files[at].inode, i, at);
    for (std::uint32_t i = 0; i < files_.size(); ++i)
      for (std::uint32_t at = 0; at < files_[i].files.size(); ++at) {
        if (!is_socket(i, at) || std::get<PairSocket>(open(i).files[at].what).peer) continue;
        const auto peer = sockets.find(files_[i].files[at].peer);
        if (peer != sockets.end()) tree_.peers.push_back(link_of({i, at}, peer->second));
      }
  }

  /// Returns files that the maker of the tree will have open for writing, by inode.
  std::map<Inode, Place> writable_contents() {
    std::map<Inode, Place> all;
    for (std::uint32_t i = 0; i < files_.size(); ++i)
      for (std::uint32_t at = 0; at < files_[i].files.size(); ++at) {
        const OpenFile& file = open(i).files[at];
        const SeenFile& seen = files_[i].files[at];
        const bool memory =
            std::holds_alternative<MemoryFile>(file.what) || std::holds_alternative<UnlinkedFile>(file.what);
        if (memory && (file.flags & O_ACCMODE) == O_RDWR) all.try_emplace(inode_of(seen), i, *content_of(file));
      }
    return all;
  }
  /// The device and inode in the form that maps have.
  static Inode inode_of(const SeenFile& seen) {
    return {std::uint64_t{major(seen.device)} << 32 | minor(seen.device), seen.inode};
  }

  void link_objects() {
    const auto written = writable_contents();
    std::map<Inode, Place> objects;
    std::set<Place> seen;
    for (std::uint32_t i = 0; i < tree_.processes.size(); ++i)
      for (const MapImage& map : tree_.processes[i].maps) {
        if (map.object == 0 || !seen.emplace(i, map.object - 1).second) continue;
        const auto at = std::find_if(maps_[i].begin(), maps_[i].end(),
                                     [&](const MemoryMap& one) { return one.begin == map.begin; });
        if (at == maps_[i].end()) continue;
        const Inode inode{std::uint64_t{at->device_major} << 32 | at->device_minor, at->inode};
        if (tree_.processes[i].objects[map.object - 1].descriptor >= 0) continue;
        if (const auto file = written.find(inode); file != written.end()) {
          tree_.mapped.push_back(link_of({i, map.object - 1}, file->second));
          continue;
        }
        const auto [first, is_new] = objects.try_emplace(inode, i, map.object - 1);
        if (!is_new) tree_.objects.push_back(link_of({i, map.object - 1}, first->second));
      }
  }

  TreeImage& tree_;
  const std::vector<SeenFiles>& files_;
  const std::vector<std::vector<MemoryMap>>& maps_;
  std::map<Inode, Place> contents_;
};

}  // namespace

void join_other_ends(std::vector<SeenFiles*> files) {
  struct Ends {
    bool read = false, write = false;
  };
  std::map<Inode, Ends> pipes;
  std::set<std::uint64_t> sockets;
  for (const SeenFiles* process : files)
    for (const SeenFile& one : process->files) {
      const auto mode = one.file.flags & O_ACCMODE;
      if (is_pipe(one) && mode != O_WRONLY) pipes[{one.device, one.inode}].read = true;
      if (is_pipe(one) && mode != O_RDONLY) pipes[{one.device, one.inode}].write = true;
      if (std::holds_alternative<PairSocket>(one.file.what)) sockets.insert(one.inode);
    }
  for (SeenFiles* process : files)
    for (SeenFile& one : process->files) {
      const Ends ends = is_pipe(one) ? pipes[{one.device, one.inode}] : Ends{};
      const bool is_there = (ends.read && ends.write) ||
                            (std::holds_alternative<PairSocket>(one.file.what) && sockets.contains(one.peer));
      if (is_there) one.other_end_missing = false;
    }
}

base::Status link_processes(TreeImage& tree, const std::vector<SeenFiles>& files,
                            const std::vector<std::vector<MemoryMap>>& maps) {
  PERDURE_CHECK(Linking(tree, files, maps).link());
  leave_out_repeated_pages(tree);
  return {};
}

}  // namespace perdure::process
