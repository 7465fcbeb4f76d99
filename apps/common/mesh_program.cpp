#include "mesh_program.hpp"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "mesh/rows.hpp"

namespace {

using perdure::mesh::Box;
using perdure::mesh::Index;

// Every bit of the result depends on every bit of `value` (the finisher of splitmix64).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
  return value ^ value >> 31U;
}

// Sums over this rank's part, so that neither the order nor the owner of elements matters.
std::uint64_t hash_of_part(const perdure::mesh::Data<double>& set, std::uint64_t number) {
  const Box mine = intersection(set.inner(), set.owned());
  if (mine.empty()) return 0;
  std::uint64_t sum = 0;
  perdure::mesh::each_row(mine, [&](Index at) {
    for (; at[0] < mine.end[0]; ++at[0]) {
      std::uint64_t hash = number;
      for (const std::int64_t index : {at[0], at[1], at[2]}) hash = mixed(hash + static_cast<std::uint64_t>(index));
      sum += mixed(hash ^ std::bit_cast<std::uint64_t>(*set.at(at)));
    }
  });
  return sum;
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

void Digits::add_option(CLI::App& app) {
  app.add_option("--digits", digits_, "Digits of the numbers in summaries; 17 are enough to tell any two apart")
      ->check(CLI::Range(1, 17));
}

int Digits::width(int usual) const { return digits_ == 0 ? usual : std::max(usual, digits_ + 8); }

std::string Digits::scientific(double value, int columns, int decimals) const {
  char text[80];
  std::snprintf(text, sizeof text, "%*.*E", width(columns), digits_ == 0 ? decimals : digits_ - 1, value);
  return text;
}

std::string Digits::fixed(double value, int columns, int decimals) const {
  if (digits_ != 0) return scientific(value, columns, decimals);
  char text[400];
  std::snprintf(text, sizeof text, "%*.*f", columns, decimals, value);
  return text;
}

std::string Digits::shortest(double value, int digits) const {
  char text[80];
  std::snprintf(text, sizeof text, "%.*g", digits_ == 0 ? digits : digits_, value);
  return text;
}

int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& body) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // users see each step as soon as it is done
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
  std::uint64_t hash = 0, number = 0;
  for (const auto* set : sets) {
    mesh.look("final state", set->inner(), {set});
    hash += hash_of_part(*set, mixed(++number));
  }
  std::int64_t sum[] = {static_cast<std::int64_t>(hash)};
  mesh.ranks().combine(sum);
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum[0]));
  return text;
}
