#include "mesh_program.hpp"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace {

using perdure::mesh::Box;
using perdure::mesh::Index;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
  return value ^ value >> 31U;
}

// Of what this rank has; the sum over all ranks is that of all elements.
std::uint64_t hash_of_part(const perdure::mesh::Data<double>& set, std::uint64_t seed) {
  const perdure::mesh::Block& block = set.block();
  Box cells = block.part;
  for (unsigned d = 0; d < cells.dimensions; ++d) {
    cells.begin[d] = std::max<std::int64_t>(cells.begin[d], 0);
    cells.end[d] = std::min(cells.end[d], block.cells[d]);
  }
  for (unsigned d = cells.dimensions; d < 3; ++d) cells.end[d] = 1;
  const auto length = [&](unsigned d) { return d < cells.dimensions ? block.cells[d] : 1; };
  std::uint64_t hash = 0;
  Index at{};
  for (at[2] = cells.begin[2]; at[2] < cells.end[2]; ++at[2])
    for (at[1] = cells.begin[1]; at[1] < cells.end[1]; ++at[1])
      for (at[0] = cells.begin[0]; at[0] < cells.end[0]; ++at[0]) {
        const auto place = static_cast<std::uint64_t>((at[2] * length(1) + at[1]) * length(0) + at[0]);
        hash += mixed(std::bit_cast<std::uint64_t>(*set.at(at)) ^ mixed(place + mixed(seed)));
      }
  return hash;
}

int parsed(CLI::App& app, int argc, char** argv, bool speaks) {
  std::ostringstream out, err;
  int status = -1;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error, out, err) == 0 ? 0 : 2;
  }
  if (speaks) std::cout << out.str() << std::flush, std::cerr << err.str();
  return status;
}

}  // namespace

void add_mesh_options(CLI::App& app, perdure::mesh::Options& options) {
  app.add_option("--threads", options.threads, "Threads of each rank")->check(CLI::Range(1, 1024));
  app.add_flag("--reproducible", options.reproducible, "Sums have the same bits on any number of ranks and threads");
  app.add_flag("--check", options.check, "Watch whether every loop reads and writes what it says; slow");
}

int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& body) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = parsed(app, argc, argv, rank == 0);
  if (status < 0) {
    try {
      body();
      status = 0;
    } catch (const WrongInput& wrong) {
      if (rank == 0) std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), wrong.what());
      status = 2;
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), failure.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}

std::string state_hash(perdure::mesh::Mesh& mesh, std::span<perdure::mesh::Data<double>* const> sets) {
  std::uint64_t hash = 0, seed = 0;
  for (const auto* set : sets) {
    Box cells{set->block().dimensions(), {}, {}};
    std::copy(set->block().cells.begin(), set->block().cells.end(), cells.end.begin());
    mesh.look("final state", cells, {set});
  }
  for (const auto* set : sets) hash += hash_of_part(*set, ++seed);
  std::int64_t sum[] = {static_cast<std::int64_t>(hash)};
  mesh.ranks().combine(sum);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum[0]));
  return text;
}
