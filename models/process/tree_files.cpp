#include "process/tree_files.hpp"

#include <algorithm>
#include <map>

namespace perdure::process {
namespace {

base::Status wrong_files(const std::string& why) { return base::fail(PERDURE_CORRUPT, "the tree's open files", why); }

/// Returns whether all links refer to existing things, each of an earlier process.
bool links_are_good(const std::vector<SameThing>& links, const std::vector<std::vector<std::uint32_t>>& things) {
  const auto is = [&](std::uint32_t process, std::uint32_t thing) {
    return process < things.size() && thing < things[process].size();
  };
  return std::all_of(links.begin(), links.end(), [&](const SameThing& one) {
    return one.of_process < one.process && is(one.process, one.thing) && is(one.of_process, one.of_thing);
  });
}

std::uint32_t* content_in(OpenFile::What& what) {
  if (auto* one = std::get_if<UnlinkedFile>(&what)) return &one->content;
  if (auto* one = std::get_if<MemoryFile>(&what)) return &one->content;
  if (auto* one = std::get_if<PipeEnd>(&what)) return &one->content;
  if (auto* one = std::get_if<FifoEnd>(&what)) return &one->content;
  return nullptr;
}

class TreeFilesMaker {
 public:
  explicit TreeFilesMaker(const TreeImage& tree) : tree_(tree) {
    const std::size_t count = tree.processes.size();
    made_.of.resize(count);
    made_.is_first.resize(count);
    made_.content_of.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      made_.of[i].resize(files_of(i).files.size());
      made_.is_first[i].resize(files_of(i).files.size(), true);
      made_.content_of[i].resize(files_of(i).contents.size());
    }
  }

  base::Result<TreeFiles> make() {
    if (!links_are_good(tree_.files, made_.of) || !links_are_good(tree_.contents, made_.content_of))
      PERDURE_CHECK(wrong_files("processes have together what they do not have"));
    add_contents();
    PERDURE_CHECK(add_files());
    PERDURE_CHECK(join_peers());
    for (std::size_t i = 0; i < made_.of.size(); ++i)
      for (const Descriptor& one : files_of(i).descriptors)
        made_.files.descriptors.push_back({one.number, one.close_on_exec, made_.of[i][one.file]});
    std::stable_sort(made_.files.descriptors.begin(), made_.files.descriptors.end(),
                     [](const Descriptor& a, const Descriptor& b) { return a.number < b.number; });
    return std::move(made_);
  }

 private:
  const OpenFiles& files_of(std::size_t process) const { return tree_.processes[process].open_files; }

  void add_contents() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, const SameThing*> links;
    for (const auto& one : tree_.contents) links[{one.process, one.thing}] = &one;
    for (std::uint32_t i = 0; i < made_.of.size(); ++i)
      for (std::uint32_t content = 0; content < made_.content_of[i].size(); ++content) {
        const auto link = links.find({i, content});
        auto& index = made_.content_of[i][content];
        if (link != links.end()) {
          index = made_.content_of[link->second->of_process][link->second->of_thing];
          continue;
        }
        index = static_cast<std::uint32_t>(made_.files.contents.size());
        made_.files.contents.push_back(files_of(i).contents[content]);
      }
  }

  base::Status add_files() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, const SameThing*> links;
    for (const auto& one : tree_.files) links[{one.process, one.thing}] = &one;
    for (std::uint32_t i = 0; i < made_.of.size(); ++i)
      for (std::uint32_t at = 0; at < made_.of[i].size(); ++at) {
        OpenFile file = files_of(i).files[at];
        if (auto* content = content_in(file.what)) {
          *content = made_.content_of[i][*content];
          if (kinds_.try_emplace(*content, file.what.index()).first->second != file.what.index())
            return wrong_files("one of them is two different ones");
        }
        const auto link = links.find({i, at});
        if (link == links.end()) {
          made_.of[i][at] = static_cast<std::uint32_t>(made_.files.files.size());
          made_.files.files.push_back(std::move(file));
          continue;
        }
        made_.is_first[i][at] = false;
        made_.of[i][at] = made_.of[link->second->of_process][link->second->of_thing];
        const OpenFile& same = made_.files.files[made_.of[i][at]];
        auto* content = content_in(file.what);
        auto same_what = same.what;
        if (same.what.index() != file.what.index() || (content != nullptr && *content != *content_in(same_what)))
          return wrong_files("one of them is two different ones");
      }
    return {};
  }

  PairSocket* socket_at(std::uint32_t file) { return std::get_if<PairSocket>(&made_.files.files[file].what); }

  base::Status join_peers() {
    for (auto& file : made_.files.files)
      if (auto* socket = std::get_if<PairSocket>(&file.what)) socket->peer.reset();
    const auto join = [&](std::uint32_t one, std::uint32_t other) {
      PairSocket *a = socket_at(one), *b = socket_at(other);
      if (a == nullptr || b == nullptr || one == other || a->type != b->type) return false;
      if (a->peer.value_or(other) != other || b->peer.value_or(one) != one) return false;
      a->peer = other;
      b->peer = one;
      return true;
    };
    for (std::size_t i = 0; i < made_.of.size(); ++i)
      for (std::uint32_t at = 0; at < made_.of[i].size(); ++at)
        if (const auto* socket = std::get_if<PairSocket>(&files_of(i).files[at].what);
            socket != nullptr && socket->peer)
          if (!join(made_.of[i][at], made_.of[i][*socket->peer])) return wrong_files("two sockets are no pair");
    for (const auto& one : tree_.peers) {
      const bool is = one.process < made_.of.size() && one.thing < made_.of[one.process].size() &&
                      one.of_process < made_.of.size() && one.of_thing < made_.of[one.of_process].size();
      if (!is || !join(made_.of[one.process][one.thing], made_.of[one.of_process][one.of_thing]))
        return wrong_files("two sockets are no pair");
    }
    return {};
  }

  const TreeImage& tree_;
  TreeFiles made_;
  std::map<std::uint32_t, std::size_t> kinds_;  // of files, by content
};

}  // namespace

base::Result<TreeFiles> files_of_tree(const TreeImage& tree) { return TreeFilesMaker(tree).make(); }

}  // namespace perdure::process
