#include "support/disk_model.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace perdure::test_support {
namespace {

using Bytes = std::vector<std::byte>;

std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

void overwrite(Bytes& content, std::uint64_t offset, const Bytes& data) {
  content.resize(std::max<std::uint64_t>(content.size(), offset + data.size()));
  std::copy(data.begin(), data.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

struct DiskModel::Node {
  struct Write {
    std::uint64_t offset;
    std::uint64_t length;
  };
  bool directory = false;
  std::map<std::string, NodePointer> now;      ///< directories: as a running process sees it
  std::map<std::string, NodePointer> on_disk;  ///< directories: what remains after the crash
  Bytes content;
  Bytes synced;
  Bytes before_last_write;
  std::vector<Write> unsynced;  ///< writes since the last sync

  void sync() {
    synced = content;
    unsynced.clear();
  }
  Bytes after_crash(UnsyncedData fate) const;
};

Bytes DiskModel::Node::after_crash(UnsyncedData fate) const {
  if (fate == UnsyncedData::dropped) return synced;
  Bytes result = content;
  if (fate == UnsyncedData::kept || unsynced.empty()) return result;
  if (fate == UnsyncedData::zeroed) {
    for (const Write& write : unsynced)
      for (std::uint64_t i = write.offset; i < std::min<std::uint64_t>(write.offset + write.length, result.size()); ++i)
        result[i] = std::byte{0};
    return result;
  }
  const Write last = unsynced.back();
  const std::uint64_t half = last.offset + last.length / 2;
  if (last.offset + last.length == result.size())  // it was the end of the file: the file ends earlier
    result.resize(std::max<std::uint64_t>(half, before_last_write.size()));
  for (std::uint64_t i = half; i < std::min<std::uint64_t>(last.offset + last.length, result.size()); ++i)
    result[i] = i < before_last_write.size() ? before_last_write[i] : std::byte{0};
  return result;
}

DiskModel::DiskModel(const DiskImage& start) : root_(std::make_shared<Node>()) {
  root_->directory = true;
  auto place = [&](const std::string& path, const NodePointer& node) {
    const auto [parent, name] = split(path);
    find(parent)->now[name] = node;
    find(parent)->on_disk[name] = node;
  };
  for (const std::string& path : start.directories) {
    auto node = std::make_shared<Node>();
    node->directory = true;
    place(path, node);
  }
  for (const auto& [path, content] : start.files) {
    auto node = std::make_shared<Node>();
    node->content = node->synced = content;
    place(path, node);
  }
}

DiskModel::~DiskModel() = default;

DiskModel::NodePointer DiskModel::find(const std::string& path) const {
  NodePointer node = root_;
  for (std::size_t begin = 0; node && begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    auto child = node->now.find(path.substr(begin, end - begin));
    node = child == node->now.end() ? nullptr : child->second;
    begin = end + 1;
  }
  return node;
}

void DiskModel::add(const std::string& path, const NodePointer& node, std::size_t number, bool lost) {
  const auto [parent_path, name] = split(path);
  NodePointer parent = find(parent_path);
  if (!parent) return;
  parent->now[name] = node;
  if (!lost) parent->on_disk[name] = node;
  pending_[number].insert(parent);
}

void DiskModel::remove(const std::string& path, std::size_t number, bool lost) {
  const auto [parent_path, name] = split(path);
  NodePointer parent = find(parent_path);
  if (!parent) return;
  parent->now.erase(name);
  if (!lost) parent->on_disk.erase(name);
  pending_[number].insert(parent);
}

void DiskModel::open(const DiskOperation& operation, std::size_t number, bool lost) {
  if (operation.creates) add(operation.path, std::make_shared<Node>(), number, lost);
  NodePointer node = find(operation.path);
  if (!node || node->directory) return;
  open_[operation.path] = node;
  if (operation.truncates) node->content.clear();
}

void DiskModel::change_data(const DiskOperation& operation) {
  const auto opened = open_.find(operation.path);
  const NodePointer file = opened == open_.end() ? find(operation.path) : opened->second;  // or open from the beginning
  if (!file || file->directory) return;
  Node& node = *file;
  if (operation.call == "pwrite") {
    node.before_last_write = node.content;
    overwrite(node.content, operation.offset, operation.data);
    node.unsynced.push_back({operation.offset, operation.data.size()});
  } else if (operation.call == "ftruncate") {
    node.content.resize(operation.length);
  } else if (operation.call == "fallocate") {
    node.content.resize(std::max<std::uint64_t>(node.content.size(), operation.length));
  } else {
    node.sync();
  }
}

void DiskModel::sync_directory(const std::string& path) {
  NodePointer directory = find(path);
  for (auto operation = pending_.begin(); operation != pending_.end();) {
    operation->second.erase(directory);
    operation = operation->second.empty() ? pending_.erase(operation) : std::next(operation);
  }
}

void DiskModel::apply(const DiskOperation& operation, std::size_t number, bool lost) {
  const std::string& call = operation.call;
  if (call == "open") {
    open(operation, number, lost);
  } else if (call == "mkdir") {
    auto node = std::make_shared<Node>();
    node->directory = true;
    add(operation.path, node, number, lost);
  } else if (call == "unlink" || call == "rmdir") {
    remove(operation.path, number, lost);
  } else if (call == "rename") {
    if (NodePointer node = find(operation.path)) {
      remove(operation.path, number, lost);
      add(operation.new_path, node, number, lost);
    }
  } else if (call == "link") {
    if (NodePointer node = find(operation.path)) add(operation.new_path, node, number, lost);
  } else if (call == "fsync_dir") {
    sync_directory(operation.path);
  } else {
    change_data(operation);
  }
}

std::vector<std::size_t> DiskModel::unsynced_directory_operations() const {
  std::vector<std::size_t> numbers;
  for (const auto& [number, directories] : pending_) numbers.push_back(number);
  return numbers;
}

void DiskModel::collect(const Node& node, const std::string& path, UnsyncedData fate, DiskImage& image) {
  for (const auto& [name, child] : node.on_disk) {
    const std::string child_path = path.empty() ? name : path + "/" + name;
    if (child->directory) {
      image.directories.insert(child_path);
      collect(*child, child_path, fate, image);
    } else {
      image.files[child_path] = child->after_crash(fate);
    }
  }
}

DiskImage DiskModel::image(UnsyncedData fate) const {
  DiskImage image;
  collect(*root_, "", fate, image);
  return image;
}

void DiskImage::write_to(const std::string& directory) const {
  for (const std::string& path : directories) std::filesystem::create_directories(directory + "/" + path);
  for (const auto& [path, content] : files) {
    std::ofstream file(directory + "/" + path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  }
}

DiskImage DiskImage::read_from(const std::string& directory) {
  DiskImage image;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string path = std::filesystem::relative(entry.path(), directory).string();
    if (entry.is_directory()) {
      image.directories.insert(path);
    } else if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const auto* first = reinterpret_cast<const std::byte*>(text.data());
      image.files[path] = Bytes(first, first + text.size());
    }
  }
  return image;
}

}  // namespace perdure::test_support
