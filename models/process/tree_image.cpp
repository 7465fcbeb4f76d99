#include "process/tree_image.hpp"

#include <signal.h>

#include <array>
#include <map>
#include <set>

#include "base/field_codec.hpp"
#include "process/tree_files.hpp"
#include "process/tree_order.hpp"

namespace perdure::process {
namespace {

constexpr std::int32_t kMostSignals = 64;

using Things = std::vector<SameThing>;

bool is_object(const TreeImage& tree, std::uint32_t process, std::uint32_t object) {
  return process < tree.processes.size() && object < tree.processes[process].objects.size();
}

/// An object may be the same as one of an earlier process, or a file's content, but not both.
std::string wrong_objects(const TreeImage& tree) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const auto& one : tree.objects)
    if (one.of_process >= one.process || !is_object(tree, one.process, one.thing) ||
        !is_object(tree, one.of_process, one.of_thing) || !seen.emplace(one.process, one.thing).second)
      return "field 'objects' has memory that is none";
  for (const auto& one : tree.mapped) {
    if (!is_object(tree, one.process, one.thing) || !seen.emplace(one.process, one.thing).second ||
        one.of_process >= tree.processes.size() ||
        one.of_thing >= tree.processes[one.of_process].open_files.contents.size())
      return "field 'mapped' has memory that is none";
  }
  return "";
}

std::string wrong_kin(const TreeImage& tree) {
  if (tree.processes.empty() || tree.kin.size() != tree.processes.size() ||
      tree.kin.size() + tree.ended.size() > TreeImage::kMostProcesses)
    return "field 'kin' does not say of each process where it belongs";
  std::set<std::int32_t> numbers;
  for (std::size_t i = 0; i < tree.kin.size(); ++i) {
    if (tree.kin[i].number != tree.processes[i].number) return "field 'kin' has another process";
    for (const auto& thread : tree.processes[i].threads)
      if (!numbers.insert(thread.number).second) return "field 'processes' has a number twice";
  }
  for (const auto& one : tree.ended)
    if (!numbers.insert(one.kin.number).second) return "field 'ended' has a number twice";
  const auto order = order_of_tree(tree.all_kin());
  return order ? "" : "field 'kin': " + order.error().cause;
}

/// Parts of files or memory that an earlier mapping has.
class Covered {
 public:
  /// Returns the new parts of [begin, end), and marks them as covered.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> take(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> fresh;
    std::uint64_t at = begin, joined_begin = begin, joined_end = end;
    auto part = parts_.upper_bound(begin);
    if (part != parts_.begin() && std::prev(part)->second >= begin) --part;
    while (part != parts_.end() && part->first <= end) {
      if (part->first > at) fresh.emplace_back(at, part->first);
      at = std::max(at, part->second);
      joined_begin = std::min(joined_begin, part->first);
      joined_end = std::max(joined_end, part->second);
      part = parts_.erase(part);
    }
    if (at < end) fresh.emplace_back(at, end);
    parts_[joined_begin] = joined_end;
    return fresh;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;
};

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Keeps runs of a process that are in `kept` or outside of all `maps`. All are ascending.
void keep_in(ProcessImage& image, const Ranges& maps, const Ranges& kept) {
  for (NodePages& node : image.pages) {
    std::vector<PageRun> runs;
    std::size_t map = 0, part = 0;
    for (const PageRun& run : node.runs) {
      while (map < maps.size() && maps[map].second <= run.begin) ++map;
      if (map == maps.size() || maps[map].first >= run.end()) {
        runs.push_back(run);
        continue;
      }
      while (part < kept.size() && kept[part].second <= run.begin) ++part;
      for (std::size_t at = part; at < kept.size() && kept[at].first < run.end(); ++at) {
        const std::uint64_t begin = std::max(run.begin, kept[at].first), end = std::min(run.end(), kept[at].second);
        runs.push_back({begin, (end - begin) / kPageBytes});
      }
    }
    node.runs = std::move(runs);
  }
  std::erase_if(image.pages, [](const NodePages& node) { return node.runs.empty(); });
}

}  // namespace

std::string Kin::wrong() const {
  if (number <= 0) return "field 'number' is none of a process";
  return end_signal < 0 || end_signal > kMostSignals ? "field 'end_signal' is no signal" : "";
}

// A signal that does not end processes cannot be the cause, and no resume could produce that status.
std::string EndedProcess::wrong() const {
  constexpr std::array kHarmless = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};
  const std::int32_t signal = status & 0x7f;
  const bool good = status >= 0 && status <= 0xffff && signal <= kMostSignals && (signal == 0 || status < 0x100) &&
                    std::find(kHarmless.begin(), kHarmless.end(), signal) == kHarmless.end();
  return good ? "" : "field 'status' is none";
}

std::vector<Kin> TreeImage::all_kin() const {
  std::vector<Kin> all = kin;
  for (const auto& one : ended) all.push_back(one.kin);
  return all;
}

std::uint64_t TreeImage::page_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& one : processes) bytes += one.page_bytes();
  return bytes;
}

std::string TreeImage::wrong() const {
  if (auto wrong = wrong_kin(*this); !wrong.empty()) return wrong;
  if (auto wrong = wrong_objects(*this); !wrong.empty()) return wrong;
  for (const auto& one : processes)
    if (!one.increment.lenders.empty()) return "field 'increment' is of an image of one process";
  const auto together = files_of_tree(*this);
  return together ? "" : together.error().cause;
}

std::vector<std::byte> encode_tree(const TreeImage& tree) { return base::encode_fields(tree); }

base::Result<TreeImage> decode_tree(base::ConstByteSpan bytes, const std::string& object) {
  PERDURE_CHECK(check_format(bytes, object));
  return base::decode_fields<TreeImage>(bytes, object);
}

void leave_out_repeated_pages(TreeImage& tree) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> firsts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> with_file;
  for (const auto& one : tree.objects) firsts[{one.process, one.thing}] = {one.of_process, one.of_thing};
  for (const auto& one : tree.mapped) with_file.emplace(one.process, one.thing);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Covered> covered;
  for (std::uint32_t i = 0; i < tree.processes.size(); ++i) {
    Ranges maps, kept;
    for (const MapImage& map : tree.processes[i].maps) {
      if (map.object == 0) continue;
      std::pair key{i, map.object - 1};
      if (const auto first = firsts.find(key); first != firsts.end()) key = first->second;
      maps.emplace_back(map.begin, map.end);
      if (with_file.contains(key)) continue;
      for (const auto& [begin, end] : covered[key].take(map.offset, map.offset + map.bytes()))
        kept.emplace_back(map.begin + (begin - map.offset), map.begin + (end - map.offset));
    }
    if (!maps.empty()) keep_in(tree.processes[i], maps, kept);
  }
}

}  // namespace perdure::process
