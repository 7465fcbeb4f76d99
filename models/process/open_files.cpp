// Checks that the open files of an image are consistent.
#include <algorithm>
#include <set>

#include "process/descriptors.hpp"

namespace perdure::process {
namespace {

const PollSet* poll_set_of(const OpenFile& file) { return std::get_if<PollSet>(&file.what); }

std::string wrong_numbers(const OpenFiles& all) {
  std::vector<bool> meant(all.files.size());
  std::int32_t least = 0;
  for (const auto& one : all.descriptors) {
    if (one.number < least || one.number > OpenFiles::kGreatestNumber)
      return "its descriptors do not ascend, or are no numbers of descriptors";
    if (one.file >= all.files.size()) return "a descriptor means an open file that it does not have";
    meant[one.file] = true;
    least = one.number + 1;
  }
  return std::find(meant.begin(), meant.end(), false) == meant.end() ? "" : "an open file has no descriptor";
}

/// A content may belong to only one kind of file: unlinked file, memfd, pipe or FIFO.
std::string wrong_contents(const OpenFiles& all) {
  constexpr std::size_t kNobody = 0;
  std::vector<std::size_t> kinds(all.contents.size(), kNobody);
  const auto use = [&](std::uint32_t content, std::size_t kind) {
    if (content >= kinds.size() || (kinds[content] != kNobody && kinds[content] != kind)) return false;
    kinds[content] = kind;
    return true;
  };
  for (const auto& file : all.files) {
    bool good = true;
    const std::size_t kind = file.what.index();
    if (const auto* one = std::get_if<UnlinkedFile>(&file.what)) good = use(one->content, kind);
    if (const auto* one = std::get_if<MemoryFile>(&file.what)) good = use(one->content, kind);
    if (const auto* one = std::get_if<PipeEnd>(&file.what)) good = use(one->content, kind);
    if (const auto* one = std::get_if<FifoEnd>(&file.what)) good = use(one->content, kind);
    if (!good) return "an open file means a content that is another kind of file's, or none";
  }
  return std::find(kinds.begin(), kinds.end(), kNobody) == kinds.end() ? "" : "a content is no open file's";
}

std::string wrong_bytes(const OpenFiles& all) {
  std::uint64_t bytes = 0;
  for (const auto& content : all.contents) bytes += content.bytes();
  for (const auto& file : all.files)
    if (const auto* socket = std::get_if<PairSocket>(&file.what))
      for (const auto& message : socket->unread) bytes += message.bytes.size();
  return bytes <= OpenFiles::kMostContentBytes ? "" : "its open files have more content than an image keeps";
}

std::string wrong_peers(const OpenFiles& all) {
  for (std::uint32_t i = 0; i < all.files.size(); ++i) {
    const auto* socket = std::get_if<PairSocket>(&all.files[i].what);
    if (socket == nullptr || !socket->peer) continue;
    if (*socket->peer >= all.files.size() || *socket->peer == i) return "a socket's peer is none";
    const auto* peer = std::get_if<PairSocket>(&all.files[*socket->peer].what);
    if (peer == nullptr || peer->peer != i || peer->type != socket->type) return "two sockets are no pair";
  }
  return "";
}

/// Measures how deeply epolls below a file watch each other; more than kMostNested if one watches itself.
class PollDepth {
 public:
  static constexpr unsigned kMostNested = 5;
  explicit PollDepth(const OpenFiles& all) : all_(all), known_(all.files.size()) {}
  unsigned of(std::uint32_t file, unsigned above = 0) {
    const auto* set = poll_set_of(all_.files[file]);
    if (set == nullptr) return 0;
    if (above >= kMostNested || known_[file] == kBegun) return kMostNested + 1;
    if (known_[file] != 0) return known_[file];
    known_[file] = kBegun;
    unsigned below = 0;
    for (const auto& item : set->items) below = std::max(below, of(item.file, above + 1));
    return known_[file] = below + 1;
  }

 private:
  static constexpr unsigned kBegun = ~0U;
  const OpenFiles& all_;
  std::vector<unsigned> known_;
};

/// The kernel refuses an epoll that watches itself or is nested too deeply. A resume would fail halfway.
std::string wrong_polls(const OpenFiles& all) {
  for (const auto& file : all.files)
    if (const auto* set = poll_set_of(file))
      for (const auto& item : set->items)
        if (item.file >= all.files.size() || item.number < 0 || item.number > OpenFiles::kGreatestNumber)
          return "an epoll watches what is no descriptor";
  PollDepth depth(all);
  for (std::uint32_t i = 0; i < all.files.size(); ++i)
    if (depth.of(i) > PollDepth::kMostNested) return "its epolls watch each other";
  return "";
}

std::string wrong_items(const OpenFiles& all) {
  for (const auto& file : all.files) {
    const auto* set = poll_set_of(file);
    if (set == nullptr) continue;
    std::set<std::pair<std::int32_t, std::uint32_t>> seen;
    for (const auto& item : set->items)
      if (!seen.emplace(item.number, item.file).second) return "an epoll watches a descriptor twice";
  }
  return "";
}

/// Repeats the checks of the parts. A decoder made them, but other makers of the data may not have.
std::string wrong_parts(const OpenFiles& all) {
  const auto of = [](const auto& part) -> std::string {
    if constexpr (base::CanBeWrong<std::remove_cvref_t<decltype(part)>>) return part.wrong();
    return "";
  };
  std::string wrong;
  const auto ask = [&](const auto& part) {
    if (wrong.empty()) wrong = of(part);
  };
  for (const auto& content : all.contents) ask(content);
  for (const auto& file : all.files) {
    ask(file);
    ask(file.owner);
    std::visit(ask, file.what);
    if (const auto* fifo = std::get_if<FifoEnd>(&file.what)) ask(fifo->file);
  }
  return wrong;
}

}  // namespace

std::string OpenFiles::wrong() const {
  for (const auto check :
       {wrong_parts, wrong_numbers, wrong_contents, wrong_bytes, wrong_peers, wrong_polls, wrong_items})
    if (auto wrong = check(*this); !wrong.empty()) return wrong;
  return "";
}

}  // namespace perdure::process
