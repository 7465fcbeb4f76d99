#include "process/page_scan.hpp"

#include <sys/ioctl.h>

#include <array>

namespace perdure::process {
namespace {

struct PageRegion {
  std::uint64_t begin, end, categories;
};
struct PageScan {
  std::uint64_t size, flags, begin, end, walk_end, regions, region_count, most_pages, inverted, all_of, any_of, tell;
};
constexpr unsigned long kPageScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kProtect = 1 << 0, kFollowedOnly = 1 << 1;

}  // namespace

void append_pages(std::vector<PageRun>& runs, std::uint64_t begin, std::uint64_t end) {
  if (!runs.empty() && runs.back().end() == begin) {
    runs.back().pages += (end - begin) / kPageBytes;
  } else {
    runs.push_back({begin, (end - begin) / kPageBytes});
  }
}

std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, bool protect) {
  std::vector<PageRun> runs;
  std::array<PageRegion, 1024> regions;
  for (std::uint64_t at = begin; at < end;) {
    PageScan arguments{};
    arguments.size = sizeof arguments;
    arguments.flags = protect ? kProtect | kFollowedOnly : 0;
    arguments.begin = at;
    arguments.end = end;
    arguments.regions = reinterpret_cast<std::uint64_t>(regions.data());
    arguments.region_count = regions.size();
    arguments.inverted = wanted.has_none;
    arguments.all_of = wanted.has_all | wanted.has_none;
    arguments.any_of = arguments.tell = wanted.has_any;
    const int found = ::ioctl(pagemap, kPageScan, &arguments);
    if (found < 0 || arguments.walk_end <= at) return std::nullopt;
    for (int i = 0; i < found; ++i)
      append_pages(runs, regions[static_cast<unsigned>(i)].begin, regions[static_cast<unsigned>(i)].end);
    at = arguments.walk_end;
  }
  return runs;
}

}  // namespace perdure::process
