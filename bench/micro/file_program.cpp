#include "file_program.hpp"

#include "base/json.hpp"
#include "work_directory.hpp"

namespace perdure::micro {
namespace {

int ranks_of_this_host() {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int size = 1;
  MPI_Comm_size(host, &size);
  MPI_Comm_free(&host);
  return size;
}

void add_options(CLI::App& app, FileSweep& sweep, Layout layout, bool& compare) {
  add_common_options(app, sweep.common);
  add_directory_option(app, sweep.common);
  app.add_option("--modes", sweep.modes, "what is there before: new, existing, in-place, deleted")
      ->delimiter(',')
      ->check(CLI::IsMember({"new", "existing", "in-place", "deleted"}));
  app.add_option("--writers", sweep.writers, "numbers of ranks that write, one after the other; default: all")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--block", sweep.block_bytes, "bytes of one write call")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--ranks-per-node", sweep.ranks_per_node, "ranks of a simulated node; default: all of a host")
      ->check(CLI::PositiveNumber);
  app.add_flag("--sync", sweep.sync, "fsync, within the time");
  if (layout == Layout::task_local) return;
  app.add_option("--alignment", sweep.alignment_bytes, "where the region of a rank may begin")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--compare", compare, "task-local files beside it, in turn");
}

Json settings_of(const FileSweep& sweep, const World& world, const std::string& directory) {
  return {{"ranks", world.size()},
          {"ranks_per_node", sweep.ranks_per_node},
          {"repetitions", sweep.common.repetitions},
          {"block_bytes", sweep.block_bytes},
          {"alignment_bytes", sweep.alignment_bytes},
          {"sync", sweep.sync},
          {"directory", directory}};
}

base::Status check_writers(const FileSweep& sweep, int ranks) {
  for (const int count : sweep.writers)
    if (count > ranks)
      return base::fail(PERDURE_INVALID_ARGUMENT, "--writers " + std::to_string(count),
                        "there are only " + std::to_string(ranks) + " ranks",
                        "start more (mpirun -n), or ask for fewer writers");
  return {};
}

}  // namespace

int run_file_program(int argc, char** argv, const std::string& benchmark, Layout layout) {
  Interruption interruption;
  const World world(argc, argv);
  FileSweep sweep;
  sweep.common.min_bytes = 64U << 10;
  sweep.common.max_bytes = 64U << 20;
  bool compare = false;
  CLI::App app{benchmark == "pario" ? "Every rank writes a file of its own"
                                    : "The ranks of a node write aligned regions of one file"};
  add_options(app, sweep, layout, compare);
  if (const auto code = parse(app, argc, argv, world.rank(), sweep.common)) return *code;
  sweep.layouts = {layout};
  if (compare) sweep.layouts = {Layout::task_local, Layout::aggregated};
  if (sweep.writers.empty()) sweep.writers = {world.size()};
  if (sweep.ranks_per_node == 0) sweep.ranks_per_node = ranks_of_this_host();
  Results results(benchmark, {});
  base::Status status = check_writers(sweep, world.size());
  if (!status) return finish(world, sweep.common, status, results);
  const auto directory = WorkDirectory::make(sweep.common.directory, benchmark, interruption);
  if (!directory) return finish(world, sweep.common, base::fail(directory.error()), results);
  results = Results(benchmark, settings_of(sweep, world, (*directory)->path()));
  status = measure(sweep, world, (*directory)->path(), results);
  return finish(world, sweep.common, status, results);
}

}  // namespace perdure::micro
