#include "process/pages.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>

#include "os/file.hpp"
#include "os/system.hpp"
#include "process/page_scan.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kEntryPresent = 1ULL << 63, kEntrySwapped = 1ULL << 62, kEntryFile = 1ULL << 61;

std::string pagemap_of(pid_t process) { return "/proc/" + std::to_string(process) + "/pagemap"; }

/// Calls use(address, entry) for each page, in order; an entry has 8 bytes.
template <class Use>
base::Status each_entry(const os::File& pagemap, std::uint64_t begin, std::uint64_t end, Use use) {
  std::vector<std::uint64_t> entries(8192);
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t count = std::min<std::uint64_t>(entries.size(), (end - at) / kPageBytes);
    const auto part = std::span(entries).first(count);
    PERDURE_CHECK(pagemap.read(at / kPageBytes * sizeof(std::uint64_t), std::as_writable_bytes(part)));
    for (const std::uint64_t entry : part) {
      use(at, entry);
      at += kPageBytes;
    }
  }
  return {};
}

// Without the right to see page numbers, the kernel's zero page looks like others. Zeros are found later
// (zero_pages.hpp).
base::Result<std::vector<PageRun>> read_entries(const os::File& pagemap, const MemoryMap& map) {
  std::vector<PageRun> runs;
  PERDURE_CHECK(each_entry(pagemap, map.begin, map.end, [&](std::uint64_t at, std::uint64_t entry) {
    if ((entry & (kEntryPresent | kEntrySwapped)) != 0 && (entry & kEntryFile) == 0)
      append_pages(runs, at, at + kPageBytes);
  }));
  return runs;
}

constexpr std::size_t kPagesAtOnce = 4096;

/// Returns the node of each page; below 0: it has none now.
base::Status ask_nodes(pid_t process, const std::vector<void*>& pages, std::vector<int>& nodes) {
  nodes.assign(pages.size(), -1);
  if (::syscall(SYS_move_pages, process, pages.size(), pages.data(), nullptr, nodes.data(), 0) >= 0) return {};
  return base::fail(base::errno_error(errno, "ask on which nodes its pages are", "process " + std::to_string(process)));
}

std::optional<std::uint32_t> sole_node(const SoleNodes& known, const PageRun& run) {
  const auto behind = known.upper_bound(run.begin);
  return behind == known.begin() ? std::nullopt : std::prev(behind)->second;
}

base::Status add_by_node(pid_t process, const PageRun& run, std::map<std::uint32_t, NodePages>& all,
                         std::uint32_t& last) {
  std::vector<void*> pages;
  std::vector<int> places;
  for (std::uint64_t done = 0; done < run.pages; done += pages.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(kPagesAtOnce, run.pages - done);
    pages.clear();
    for (std::uint64_t i = 0; i < count; ++i)
      pages.push_back(reinterpret_cast<void*>(run.begin + (done + i) * kPageBytes));  // NOLINT: an address there
    PERDURE_CHECK(ask_nodes(process, pages, places));
    for (std::uint64_t i = 0; i < count; ++i) {
      if (places[i] >= 0) last = static_cast<std::uint32_t>(places[i]);
      const std::uint64_t at = run.begin + (done + i) * kPageBytes;
      if (at == run.begin) {  // the run before may be in another mapping
        all[last].runs.push_back({at, 1});
      } else {
        append_pages(all[last].runs, at, at + kPageBytes);
      }
    }
  }
  return {};
}

}  // namespace

base::Result<std::vector<PageRun>> written_pages(pid_t process, const MemoryMap& map, std::vector<PageRun>& guards) {
  PERDURE_TRY(const auto pagemap, os::File::open(pagemap_of(process), os::Open::read));
  constexpr auto kNotItsOwn = PageCategories::file | PageCategories::zero_page;
  if (auto runs = scan_pages(pagemap.fd(), map.begin, map.end, {.has_none = kNotItsOwn}, guards))
    return std::move(*runs);
  return read_entries(pagemap, map);
}

base::Result<std::vector<PageRun>> pages_there(pid_t process, const std::vector<PageRun>& runs) {
  PERDURE_TRY(const auto pagemap, os::File::open(pagemap_of(process), os::Open::read));
  std::vector<PageRun> there;
  for (const PageRun& run : runs) {
    if (const auto found = scan_pages(pagemap.fd(), run.begin, run.end(), {})) {
      for (const PageRun& one : *found) append_pages(there, one.begin, one.end());
      continue;
    }
    PERDURE_CHECK(each_entry(pagemap, run.begin, run.end(), [&](std::uint64_t at, std::uint64_t entry) {
      if ((entry & (kEntryPresent | kEntrySwapped)) != 0) append_pages(there, at, at + kPageBytes);
    }));
  }
  return there;
}

// Pages that this process has not touched may exist too, and reading them in its memory would touch them. If the kernel
// does not let us see the memory itself, all pages count as written.
base::Result<std::vector<PageRun>> shared_pages(pid_t process, const MemoryMap& map) {
  std::vector<PageRun> runs;
  char name[64];
  std::snprintf(name, sizeof name, "%llx-%llx", static_cast<unsigned long long>(map.begin),
                static_cast<unsigned long long>(map.end));
  const std::string path = "/proc/" + std::to_string(process) + "/map_files/" + name;
  const os::Fd memory(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory) return std::vector<PageRun>{{map.begin, map.bytes() / kPageBytes}};
  const auto end = static_cast<off_t>(map.offset + map.bytes());
  for (auto at = static_cast<off_t>(map.offset); at < end;) {
    const off_t data = ::lseek(memory.get(), at, SEEK_DATA);
    if (data < 0 || data >= end) break;
    off_t hole = ::lseek(memory.get(), data, SEEK_HOLE);
    hole = hole < 0 ? end : std::min(hole, end);
    append_pages(runs, map.begin + static_cast<std::uint64_t>(data) / kPageBytes * kPageBytes - map.offset,
                 map.begin + base::round_up(static_cast<std::uint64_t>(hole), kPageBytes) - map.offset);
    at = hole;
  }
  return runs;
}

std::vector<PageRun> join_near_runs(std::vector<PageRun> runs, const std::vector<MemoryMap>& maps, std::size_t most) {
  if (runs.size() <= most) return runs;
  std::vector<std::uint64_t> gaps(runs.size(), ~std::uint64_t{0});  // before each run; runs of different mappings
                                                                    // cannot be joined
  auto map = maps.begin();
  for (std::size_t i = 1; i < runs.size(); ++i) {
    while (map != maps.end() && map->end <= runs[i - 1].begin) ++map;
    if (map != maps.end() && runs[i].end() <= map->end) gaps[i] = runs[i].begin - runs[i - 1].end();
  }
  auto ordered = gaps;
  const auto last = ordered.begin() + static_cast<std::ptrdiff_t>(runs.size() - most - 1);
  std::nth_element(ordered.begin(), last, ordered.end());
  std::vector<PageRun> joined;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (gaps[i] <= *last && gaps[i] != ~std::uint64_t{0}) {
      joined.back().pages = (runs[i].end() - joined.back().begin) / kPageBytes;
    } else {
      joined.push_back(runs[i]);
    }
  }
  return joined;
}

unsigned count_nodes() {
  std::error_code error;
  unsigned count = 0;
  for (std::filesystem::directory_iterator at("/sys/devices/system/node", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos) ++count;
  }
  return std::max(count, 1U);
}

base::Result<std::vector<NodePages>> pages_by_node(pid_t process, const std::vector<PageRun>& runs, unsigned nodes,
                                                   const SoleNodes& known) {
  if (nodes <= 1) return std::vector<NodePages>{{0, runs}};
  std::map<std::uint32_t, NodePages> all;
  std::uint32_t last = 0;
  for (const PageRun& run : runs) {
    if (const auto sole = sole_node(known, run)) {
      last = *sole;
      all[last].runs.push_back(run);
    } else {
      PERDURE_CHECK(add_by_node(process, run, all, last));
    }
  }
  std::vector<NodePages> list;
  for (auto& [node, its] : all) {
    its.node = node;
    list.push_back(std::move(its));
  }
  return list;
}

}  // namespace perdure::process
