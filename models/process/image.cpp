#include "process/image.hpp"

#include <cstring>
#include <numeric>
#include <set>

#include "base/field_codec.hpp"
#include "os/cpu_set.hpp"

namespace perdure::process {
namespace {

constexpr std::size_t kSignalInfoBytes = 128;
constexpr std::uint32_t kSignals = 64;
constexpr std::size_t kMostThreads = 1 << 20;

bool whole_pages(std::uint64_t begin, std::uint64_t end) {
  return begin < end && end <= kAddressEnd && begin % kPageBytes == 0 && end % kPageBytes == 0;
}

bool is_path(const std::string& path) {
  return !path.empty() && path.front() == '/' && path.find('\0') == std::string::npos;
}

bool all_signals(const std::vector<std::vector<std::byte>>& signals) {
  for (const auto& one : signals)
    if (one.size() != kSignalInfoBytes) return false;
  return true;
}

template <class T, class Key>
bool ascend(const std::vector<T>& list, Key key) {
  for (std::size_t i = 1; i < list.size(); ++i)
    if (key(list[i]) <= key(list[i - 1])) return false;
  return true;
}

/// Each page must be in one mapping, and in the list of one node.
std::string wrong_with_pages(const ProcessImage& image) {
  std::vector<PageRun> all;
  for (const auto& node : image.all_pages()) all.insert(all.end(), node.runs.begin(), node.runs.end());
  std::sort(all.begin(), all.end(), [](const PageRun& a, const PageRun& b) { return a.begin < b.begin; });
  std::size_t map = 0;
  std::uint64_t end = 0;
  for (const PageRun& run : all) {
    if (run.pages == 0 || run.pages > kAddressEnd / kPageBytes || !whole_pages(run.begin, run.end()) || run.begin < end)
      return "field 'pages' has pages that are none";
    end = run.end();
    while (map < image.maps.size() && image.maps[map].end <= run.begin) ++map;
    if (map == image.maps.size() || run.begin < image.maps[map].begin || run.end() > image.maps[map].end)
      return "field 'pages' has pages outside of all mappings";
    if (image.maps[map].shared && image.maps[map].file != 0) return "field 'pages' has pages of a shared file";
  }
  return "";
}

/// There must be one mark for each block.
std::string wrong_with_marks(const ProcessImage& image) {
  const Increment& increment = image.increment;
  if (increment.key.empty()) return "";
  std::uint64_t blocks = 0;
  for (const auto& node : image.all_pages())
    for (const PageRun& run : node.runs) blocks += (run.end() - 1) / kBlockBytes - run.begin / kBlockBytes + 1;
  return increment.marks.size() == blocks * kMarkBytes ? "" : "field 'marks' has a wrong length";
}

std::string wrong_with_guards(const ProcessImage& image) {
  std::size_t map = 0;
  std::uint64_t end = 0;
  for (const PageRun& run : image.guards) {
    if (run.pages == 0 || run.pages > kAddressEnd / kPageBytes || !whole_pages(run.begin, run.end()) || run.begin < end)
      return "field 'guards' has pages that are none";
    end = run.end();
    while (map < image.maps.size() && image.maps[map].end <= run.begin) ++map;
    if (map == image.maps.size() || run.begin < image.maps[map].begin || run.end() > image.maps[map].end)
      return "field 'guards' has pages outside of all mappings";
  }
  return "";
}

std::string wrong_with_maps(const ProcessImage& image) {
  for (std::size_t i = 0; i < image.maps.size(); ++i) {
    const MapImage& map = image.maps[i];
    if (i > 0 && map.begin < image.maps[i - 1].end) return "field 'maps' does not ascend";
    if (map.file > image.files.size() || map.object > image.objects.size())
      return "field 'maps' names a file that is none";
    if (map.begin < image.system.vdso_end && map.end > image.system.vdso_begin)
      return "field 'maps' has the kernel's pages";
  }
  return "";
}

}  // namespace

std::string SystemImage::wrong() const {
  if (!whole_pages(vdso_begin, vdso_end)) return "field 'vdso_begin' is none";
  constexpr std::int64_t kMostClock_ns = std::int64_t{1} << 62;
  for (const std::int64_t clock_ns : {clocks.monotonic_ns, clocks.boottime_ns})
    if (clock_ns < 0 || clock_ns > kMostClock_ns) return "field 'clocks' has a time that is none";
  return vdso_code.size() % kPageBytes == 0 && vdso_code.size() <= vdso_end - vdso_begin
             ? ""
             : "field 'vdso_code' has a wrong length";
}

std::string MemoryLayout::wrong() const {
  for (const auto address : {start_code, end_code, start_data, end_data, start_brk, brk, start_stack, arg_start,
                             arg_end, env_start, env_end})
    if (address > kAddressEnd) return "it has an address that is none";
  return auxiliary.size() % 16 == 0 && auxiliary.size() <= 1024 ? "" : "field 'auxiliary' has a wrong length";
}

std::string FileImage::wrong() const { return is_path(path) ? "" : "field 'path' is none"; }

std::string MapImage::wrong() const {
  if (!whole_pages(begin, end)) return "field 'begin' is none of a mapping";
  if (protection > 7) return "field 'protection' has no such rights";
  if (offset % kPageBytes != 0 || offset + bytes() < offset) return "field 'offset' is none";
  return file == 0 || object == 0 ? "" : "field 'object' stands beside a file";
}

std::uint64_t NodePages::pages() const {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PageRun& run) { return sum + run.pages; });
}

void add_blocks(const PageRun& run, std::vector<PageRun>& blocks) {
  for (std::uint64_t at = run.begin; at < run.end();) {
    const std::uint64_t end = std::min(run.end(), at / kBlockBytes * kBlockBytes + kBlockBytes);
    blocks.push_back({at, (end - at) / kPageBytes});
    at = end;
  }
}

std::uint64_t BorrowedPages::pages() const {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const BorrowedRun& run) { return sum + run.pages; });
}

std::string Increment::wrong() const {
  constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 62;
  if (lenders.size() > kMostLenders) return "field 'lenders' has too many";
  for (const BorrowedPages& pages : borrowed) {
    if (pages.lender >= lenders.size()) return "field 'borrowed' names a lender that is none";
    for (const BorrowedRun& run : pages.runs)
      if (run.offset > kMostOffset) return "field 'borrowed' has an offset that is none";
  }
  if (!key.empty() && key.size() != kMarkKeyBytes) return "field 'key' has a wrong length";
  return key.empty() && !marks.empty() ? "field 'marks' has marks without a key" : "";
}

std::string ThreadImage::wrong() const {
  if (number <= 0) return "field 'number' is none of a thread";
  if (registers.size() != sizeof(Registers)) return "field 'registers' has a wrong length";
  if (!all_signals(pending_signals)) return "field 'pending_signals' has a wrong length";
  if (cpus.empty() || cpus.back() >= os::CpuSet::kMost ||
      !ascend(cpus, [](std::uint32_t cpu) { return std::uint64_t{cpu} + 1; }))
    return "field 'cpus' does not ascend";
  return "";
}

Registers registers_of(const ThreadImage& thread) {
  Registers registers{};
  if (thread.registers.size() == sizeof registers) std::memcpy(&registers, thread.registers.data(), sizeof registers);
  return registers;
}

const MapImage* ProcessImage::map_of(std::uint64_t address) const {
  const auto behind = std::upper_bound(maps.begin(), maps.end(), address,
                                       [](std::uint64_t at, const MapImage& map) { return at < map.begin; });
  if (behind == maps.begin() || std::prev(behind)->end <= address) return nullptr;
  return &*std::prev(behind);
}

std::uint64_t ProcessImage::borrowed_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& one : increment.borrowed) bytes += one.pages() * kPageBytes;
  return bytes;
}

std::vector<NodePages> ProcessImage::all_pages() const {
  std::vector<NodePages> all = pages;
  for (const BorrowedPages& one : increment.borrowed) {
    NodePages& its = all.emplace_back(NodePages{one.node, {}});
    for (const BorrowedRun& run : one.runs) its.runs.push_back(run.run());
  }
  return all;
}

std::uint64_t ProcessImage::object_bytes(std::uint32_t object) const {
  std::uint64_t bytes = 0;
  for (const MapImage& map : maps)
    if (map.object == object) bytes = std::max(bytes, map.offset + map.bytes());
  return bytes;
}

std::uint64_t ProcessImage::page_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& node : pages) bytes += node.pages() * kPageBytes;
  return bytes;
}

std::string ProcessImage::wrong() const {
  if (threads.empty() || threads.size() > kMostThreads || threads[0].number != number)
    return "field 'threads' does not begin with the process's own";
  std::set<std::uint32_t> nodes;
  for (const auto& node : pages)
    if (!nodes.insert(node.node).second) return "field 'pages' has a node twice";
  for (const auto& action : actions)
    if (action.signal == 0 || action.signal > kSignals) return "field 'actions' has no such signal";
  if (!is_path(directory)) return "field 'directory' is none";
  if (!all_signals(pending_signals)) return "field 'pending_signals' has a wrong length";
  if (auto wrong = wrong_with_maps(*this); !wrong.empty()) return wrong;
  if (auto wrong = wrong_with_guards(*this); !wrong.empty()) return wrong;
  if (auto wrong = wrong_with_pages(*this); !wrong.empty()) return wrong;
  return wrong_with_marks(*this);
}

std::vector<std::byte> encode_image(const ProcessImage& image) { return base::encode_fields(image); }

base::Status check_format(base::ConstByteSpan bytes, const std::string& object) {
  base::FieldReader format(bytes.first(std::min(bytes.size(), sizeof(std::uint32_t))));
  std::uint32_t number = 0;
  format.read(number);
  if (format.end(object) && number != kImageFormat)
    return base::fail(PERDURE_UNSUPPORTED, object,
                      "it is an image of format " + std::to_string(number) + ", and this Perdure reads format " +
                          std::to_string(kImageFormat),
                      "resume it by the release that captured it");
  return {};
}

base::Result<ProcessImage> decode_image(base::ConstByteSpan bytes, const std::string& object) {
  PERDURE_CHECK(check_format(bytes, object));
  return base::decode_fields<ProcessImage>(bytes, object);
}

}  // namespace perdure::process
