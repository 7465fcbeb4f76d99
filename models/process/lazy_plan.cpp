#include "process/lazy_plan.hpp"

#include <algorithm>
#include <cstring>

#include "process/registers.hpp"

namespace perdure::process {
namespace {

/// Returns the pages, ascending, that are touched before we can be asked for one.
std::vector<std::uint64_t> touched_at_once(const ProcessImage& image) {
  std::vector<std::uint64_t> pages;
  for (const ThreadImage& thread : image.threads) {
    if (thread.rseq.address != 0)
      for (const std::uint64_t at : {thread.rseq.address, thread.rseq.address + thread.rseq.bytes - 1})
        pages.push_back(at / kPageBytes * kPageBytes);
    pages.push_back(stack_of(registers_of(thread)) / kPageBytes * kPageBytes);
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

}  // namespace

std::vector<PageRun> lazy_maps(const ProcessImage& image) {
  std::vector<PageRun> maps;
  for (const MapImage& map : image.maps) {
    const bool own = !map.shared && map.file == 0 && map.object == 0 && map.policy.empty();
    if (own && !map.has("lo") && !map.has("wf") && !map.has("ht"))
      maps.push_back({map.begin, map.bytes() / kPageBytes});
  }
  return maps;
}

std::vector<capture::ChunkRange> needed_first(const ProcessImage& image, const std::vector<PageRun>& maps,
                                              std::uint64_t record_bytes) {
  const auto at_once = touched_at_once(image);
  std::vector<capture::ChunkRange> needed;
  std::uint64_t done = record_bytes;
  const auto need = [&](const PageRun& run, std::uint64_t begin, std::uint64_t end) {
    if (begin < end) add_range(needed, {done + (begin - run.begin), end - begin});
  };
  for (const NodePages& node : image.pages)
    for (const PageRun& run : node.runs) {
      std::uint64_t at = run.begin;
      auto map = std::partition_point(maps.begin(), maps.end(), [&](const PageRun& one) { return one.end() <= at; });
      for (; map != maps.end() && map->begin < run.end(); ++map) {
        need(run, at, map->begin);
        at = std::max(at, map->end());
      }
      need(run, at, run.end());
      for (auto page = std::lower_bound(at_once.begin(), at_once.end(), run.begin);
           page != at_once.end() && *page < run.end(); ++page)
        need(run, *page, *page + kPageBytes);
      done += run.pages * kPageBytes;
    }
  return needed;
}

void add_range(std::vector<capture::ChunkRange>& ranges, capture::ChunkRange added) {
  if (added.length == 0) return;
  auto first = std::partition_point(ranges.begin(), ranges.end(),
                                    [&](const capture::ChunkRange& one) { return one.end() < added.begin; });
  auto last = first;
  std::uint64_t begin = added.begin, end = added.end();
  for (; last != ranges.end() && last->begin <= end; ++last) {
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end());
  }
  first = ranges.erase(first, last);
  ranges.insert(first, {begin, end - begin});
}

std::vector<capture::ChunkRange> without(capture::ChunkRange whole, const std::vector<capture::ChunkRange>& ranges) {
  std::vector<capture::ChunkRange> left;
  std::uint64_t at = whole.begin;
  for (const capture::ChunkRange& one : ranges) {
    if (one.end() <= at || one.begin >= whole.end()) continue;
    if (one.begin > at) left.push_back({at, one.begin - at});
    at = one.end();
  }
  if (at < whole.end()) left.push_back({at, whole.end() - at});
  return left;
}

}  // namespace perdure::process
