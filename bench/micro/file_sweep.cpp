#include "file_sweep.hpp"

#include <cstdio>

#include "base/json.hpp"
#include "file_cell.hpp"
#include "os/file.hpp"
#include "statistics.hpp"
#include "together.hpp"

namespace perdure::micro {
namespace {

// Determines the node of every rank: `ranks_per_node` consecutive ranks share one.
Writers writers_of(const FileSweep& sweep, const Group& all, const Group& node, const std::string& directory) {
  Writers writers;
  writers.all = all.get();
  writers.node = node.get();
  writers.rank = all.rank();
  writers.count = all.size();
  writers.rank_in_node = node.rank();
  writers.node_index = writers.rank / sweep.ranks_per_node;
  writers.nodes = (writers.count + sweep.ranks_per_node - 1) / sweep.ranks_per_node;
  writers.directory = directory + "/node-" + std::to_string(writers.node_index);
  return writers;
}

base::Result<std::vector<FileCell>> cells_of(const FileSweep& sweep, const Writers& writers, std::uint64_t bytes) {
  std::vector<FileCell> cells;
  for (const std::string& name : sweep.modes) {
    PERDURE_TRY(const FileMode mode, file_mode(name));
    for (const Layout layout : sweep.layouts) cells.emplace_back(sweep, layout, mode, writers, bytes);
  }
  return cells;
}

// Layouts and modes alternate within a repetition, so that a machine that changes its speed affects all of them.
base::Result<std::vector<FileCell>> measure_size(const FileSweep& sweep, const Writers& writers, std::uint64_t bytes,
                                                 Progress& progress) {
  std::vector<char> data(bytes);
  bench::fill_random(data, static_cast<unsigned>(writers.rank) + 1);
  PERDURE_TRY(std::vector<FileCell> cells, cells_of(sweep, writers, bytes));
  for (int repetition = 0; repetition <= sweep.common.repetitions; ++repetition) {
    for (FileCell& cell : cells) PERDURE_CHECK(cell.repeat(repetition, data));
    progress.step();
  }
  for (FileCell& cell : cells) {
    PERDURE_CHECK(agree(cell.verify_last(data), writers.all));
    PERDURE_CHECK(cell.remove());
  }
  return cells;
}

// Compares the same mode in both layouts, size by size.
void compare(const Series& task_local, const Series& aggregated, Results& results) {
  Json ratios = Json::array();
  std::string text = aggregated.name() + ": rate over that of task-local files:";
  for (std::size_t i = 0; i < task_local.sizes.size(); ++i) {
    const double ratio = bench::median(task_local.sizes[i].seconds) / bench::median(aggregated.sizes[i].seconds);
    ratios.push_back({{"bytes", task_local.sizes[i].bytes}, {"ratio", ratio}});
    char one[64];
    std::snprintf(one, sizeof one, " %.2f", ratio);
    text += one;
  }
  results.note("sario over pario, " + task_local.name(), ratios, text);
}

base::Status measure_writers(const FileSweep& sweep, const Writers& writers, Results& results, Progress& progress) {
  PERDURE_CHECK(agree(os::make_directory(writers.directory), writers.all));
  std::vector<Series> all;
  for (const std::uint64_t bytes : sweep.common.sizes()) {
    PERDURE_TRY(const std::vector<FileCell> cells, measure_size(sweep, writers, bytes, progress));
    if (writers.rank != 0) continue;
    all.resize(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (all[i].sizes.empty()) all[i] = cells[i].series();
      all[i].sizes.push_back(cells[i].measured());
    }
  }
  for (const Series& series : all) results.add(series);
  for (std::size_t i = 0; sweep.layouts.size() == 2 && i + 1 < all.size(); i += 2) compare(all[i], all[i + 1], results);
  return {};
}

}  // namespace

base::Status measure(const FileSweep& sweep, const World& world, const std::string& directory, Results& results) {
  Progress progress(world, sweep.writers.size() * sweep.common.sizes().size() * (sweep.common.repetitions + 1U));
  for (const int count : sweep.writers) {
    const bool writes = world.rank() < count;
    const Group all(MPI_COMM_WORLD, writes ? 0 : -1, world.rank());
    const Group node(MPI_COMM_WORLD, writes ? world.rank() / sweep.ranks_per_node : -1, world.rank());
    base::Status status;
    if (writes) status = measure_writers(sweep, writers_of(sweep, all, node, directory), results, progress);
    wait_quietly();
    PERDURE_CHECK(agree(status));
  }
  return {};
}

}  // namespace perdure::micro
