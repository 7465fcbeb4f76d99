#include "planning.hpp"

#include <algorithm>
#include <fstream>

#include "array/distribution.hpp"
#include "base/json.hpp"
#include "plan/resharding.hpp"
#include "references.hpp"

namespace perdure::elastic_bench {
namespace {

constexpr std::uint64_t kElement = sizeof(double);

/// Returns the peak resident memory of this process. getrusage() would include its parent's memory before exec.
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

struct Stored {
  std::vector<plan::StoredArray> arrays;
  plan::StoredCaptures captures;
};

Stored stored(const Planning& settings, const array::Box& whole) {
  const auto grid = array::even_grid(whole, settings.writers);
  std::vector<plan::StoredBox> boxes;
  Stored all;
  for (std::uint32_t rank = 0; rank < settings.writers; ++rank) {
    boxes.push_back({rank, array::block(whole, grid, rank), 0});
    all.captures[rank] = {boxes.back().box.elements() * kElement, settings.chunk_bytes};
  }
  all.arrays.emplace_back(kElement, std::move(boxes));
  return all;
}

std::vector<plan::WantedBox> wanted(const Planning& settings, const array::Box& whole, std::uint64_t node) {
  const auto grid = array::even_grid(whole, settings.readers);
  std::vector<plan::WantedBox> boxes;
  const std::uint64_t end = std::min(settings.readers, (node + 1) * settings.per_node);
  for (std::uint64_t rank = node * settings.per_node; rank < end; ++rank)
    boxes.push_back({static_cast<std::uint32_t>(rank), array::packed(array::block(whole, grid, rank), kElement, 0)});
  return boxes;
}

/// Checks that the plan reads every wanted element exactly once.
base::Status check_plan(const Stored& all, const std::vector<plan::WantedBox>& boxes,
                        const std::vector<plan::ChunkReading>& readings) {
  std::uint64_t arrives = 0, needed = 0;
  for (const auto& box : boxes) needed += box.memory.box.elements() * kElement;
  for (const auto& reading : readings) {
    const auto& from = all.arrays[0].stored()[reading.chunk.rank];
    for (const auto& to : boxes)
      plan::copies(kElement, from, all.captures.at(from.rank), reading.chunk.chunk, to.memory,
                   [&](std::uint64_t, std::int64_t, std::uint64_t bytes) { arrives += bytes; });
  }
  if (arrives == needed) return {};
  return base::fail(PERDURE_INTERNAL, "plan",
                    std::to_string(arrives) + " bytes arrive where " + std::to_string(needed) + " are needed");
}

}  // namespace

base::Result<base::Json> plan_restore(const Planning& settings) {
  const std::uint64_t extents[3] = {settings.extent, settings.extent, settings.extent};
  PERDURE_TRY(const array::Box whole, array::whole(extents, kElement, "array"));
  const std::uint64_t at_first = peak_bytes();
  double begin = bench::now_s();
  const Stored all = stored(settings, whole);
  const double build = bench::now_s() - begin;
  const std::uint64_t nodes = (settings.readers + settings.per_node - 1) / settings.per_node;
  const std::uint64_t sample = std::min(std::max<std::uint64_t>(settings.nodes, 1), nodes);
  double slowest = 0, first = 0;
  std::size_t chunks = 0;
  for (std::uint64_t i = 0; i < sample; ++i) {
    begin = bench::now_s();
    const auto boxes = wanted(settings, whole, nodes * i / sample);
    const auto readings = plan::readings(all.arrays, {boxes}, all.captures);
    const double took = bench::now_s() - begin;
    if (i == 0) first = took;
    slowest = std::max(slowest, took);
    chunks = std::max(chunks, readings.size());
    PERDURE_CHECK(check_plan(all, boxes, readings));
  }
  return base::Json{{"writers", settings.writers}, {"readers", settings.readers}, {"build_s", build},
                    {"first_node_s", first},       {"slowest_node_s", slowest},   {"seconds", build + slowest},
                    {"most_chunks", chunks},       {"nodes_planned", sample},     {"peak_bytes_before", at_first},
                    {"peak_bytes", peak_bytes()}};
}

}  // namespace perdure::elastic_bench
