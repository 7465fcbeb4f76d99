#include "process/page_scan.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "os/affinity.hpp"
#include "os/thread.hpp"

namespace perdure::process {
namespace {

struct PageRegion {
  std::uint64_t begin, end, categories;
};
struct PageScan {
  std::uint64_t size, flags, begin, end, walk_end, regions, region_count, most_pages, inverted, all_of, any_of, tell;
};
constexpr unsigned long kPageScan = _IOWR('f', 16, PageScan);
constexpr std::uint64_t kProtect = 1 << 0;  // only followed pages; others are skipped

}  // namespace

void append_pages(std::vector<PageRun>& runs, std::uint64_t begin, std::uint64_t end) {
  if (!runs.empty() && runs.back().end() == begin) {
    runs.back().pages += (end - begin) / kPageBytes;
  } else {
    runs.push_back({begin, (end - begin) / kPageBytes});
  }
}

namespace {

/// Calls take(begin, end, categories) for ranges whose categories in `tell` are equal.
template <class Take>
bool scan_each(int pagemap, std::uint64_t begin, std::uint64_t end, const PageCategories& wanted, std::uint64_t tell,
               std::uint64_t flags, Take take) {
  std::array<PageRegion, 1024> regions;
  for (std::uint64_t at = begin; at < end;) {
    PageScan arguments{};
    arguments.size = sizeof arguments;
    arguments.flags = flags;
    arguments.begin = at;
    arguments.end = end;
    arguments.regions = reinterpret_cast<std::uint64_t>(regions.data());
    arguments.region_count = regions.size();
    arguments.inverted = wanted.has_none;
    arguments.all_of = wanted.has_all | wanted.has_none;
    arguments.any_of = wanted.has_any;
    arguments.tell = tell;
    const int found = ::ioctl(pagemap, kPageScan, &arguments);
    if (found < 0) return false;
    const auto told = std::span(regions).first(static_cast<std::size_t>(found));
    for (const PageRegion& region : told) take(region.begin, region.end, region.categories);
    if (told.size() < regions.size()) return true;
    // After several copies of regions to us, the kernel's walk_end is wrong: it is the end of the first copy (seen in
    // 6.18).
    at = std::max(arguments.walk_end, told.back().end);
  }
  return true;
}

std::vector<PageRun> part_of(const std::vector<PageRun>& runs, std::uint64_t begin, std::uint64_t end) {
  std::vector<PageRun> part;
  auto at = std::upper_bound(runs.begin(), runs.end(), begin,
                             [](std::uint64_t address, const PageRun& run) { return address < run.end(); });
  for (; at != runs.end() && at->begin < end; ++at)
    append_pages(part, std::max(begin, at->begin), std::min(end, at->end()));
  return part;
}

constexpr std::uint64_t kScannedByOne = 128 * base::MiB;
constexpr unsigned kMostScanners = 4;

struct Scanned {
  bool whole = false;
  std::vector<PageRun> present, unwritten, guards;
};

/// Returns the guard category if this kernel knows it. Other kernels refuse a request with it.
std::uint64_t guards_known() {
  static const std::uint64_t known = [] {
    const int own = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const auto here = reinterpret_cast<std::uint64_t>(&own) / kPageBytes * kPageBytes;
    const auto nothing = [](std::uint64_t, std::uint64_t, std::uint64_t) {};
    const bool good = own >= 0 && scan_each(own, here, here + kPageBytes, {}, PageCategories::guard, 0, nothing);
    if (own >= 0) ::close(own);
    return good ? PageCategories::guard : 0;
  }();
  return known;
}

Scanned scan_followed(int pagemap, const PageRun& memory) {
  constexpr std::uint64_t kTold = PageCategories::followed | PageCategories::written;
  const PageCategories wanted{.has_none = PageCategories::file | PageCategories::zero_page};
  Scanned scanned;
  const auto take = [&](std::uint64_t begin, std::uint64_t end, std::uint64_t categories) {
    if ((categories & PageCategories::guard) != 0) return append_pages(scanned.guards, begin, end);
    append_pages(scanned.present, begin, end);
    if ((categories & kTold) == PageCategories::followed) append_pages(scanned.unwritten, begin, end);
  };
  // Present and swapped are requested too: the kernel skips a page without any requested category.
  const std::uint64_t tell = kTold | PageCategories::present | PageCategories::swapped | guards_known();
  if (!scan_each(pagemap, memory.begin, memory.end(), wanted, tell, 0, take)) return {};
  scanned.whole = true;
  return scanned;
}

}  // namespace

std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, bool protect) {
  std::vector<PageRun> runs;
  const bool all =
      scan_each(pagemap, begin, end, wanted, wanted.has_any, protect ? kProtect : 0,
                [&](std::uint64_t from, std::uint64_t to, std::uint64_t) { append_pages(runs, from, to); });
  if (!all) return std::nullopt;
  return runs;
}

std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, std::vector<PageRun>& guards) {
  std::vector<PageRun> runs;
  const auto take = [&](std::uint64_t from, std::uint64_t to, std::uint64_t categories) {
    append_pages((categories & PageCategories::guard) != 0 ? guards : runs, from, to);
  };
  if (!scan_each(pagemap, begin, end, wanted, wanted.has_any | guards_known(), 0, take)) return std::nullopt;
  return runs;
}

bool FollowedPages::looked_at(std::uint64_t begin, std::uint64_t end) const {
  const auto all = part_of(memory, begin, end);
  return all.size() == 1 && all[0].begin == begin && all[0].end() == end;
}

std::vector<PageRun> FollowedPages::present_in(std::uint64_t begin, std::uint64_t end) const {
  return part_of(present, begin, end);
}

std::vector<PageRun> FollowedPages::guards_in(std::uint64_t begin, std::uint64_t end) const {
  return part_of(guards, begin, end);
}

FollowedPages look_at_followed(int pagemap, const std::vector<PageRun>& memory) {
  std::vector<PageRun> pieces;
  for (const PageRun& map : memory)
    for (std::uint64_t at = map.begin; at < map.end(); at += kScannedByOne)
      pieces.push_back({at, std::min(kScannedByOne, map.end() - at) / kPageBytes});
  std::vector<Scanned> scanned(pieces.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < pieces.size(); i = next++) scanned[i] = scan_followed(pagemap, pieces[i]);
  };
  os::Threads others;
  const auto large = std::count_if(pieces.begin(), pieces.end(),
                                   [](const PageRun& piece) { return piece.pages * kPageBytes == kScannedByOne; });
  const auto most = std::min<std::size_t>({static_cast<std::size_t>(large), os::own_cpus().count(), kMostScanners});
  for (std::size_t i = 1; i < most; ++i)  // it is faster with them, and works without
    (void)others.start("scan pages", work, [](const base::Error&) { return false; });
  work();
  others.join();
  FollowedPages all;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Scanned& part = scanned[i];
    if (part.whole) append_pages(all.memory, pieces[i].begin, pieces[i].end());
    for (const PageRun& run : part.present) append_pages(all.present, run.begin, run.end());
    for (const PageRun& run : part.unwritten) append_pages(all.unwritten, run.begin, run.end());
    for (const PageRun& run : part.guards) append_pages(all.guards, run.begin, run.end());
  }
  return all;
}

}  // namespace perdure::process
