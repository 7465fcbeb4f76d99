// mesh_bench blocking|restarting --key value... runs one measurement of verbs.hpp; bench/mesh/run starts it.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>

#include "smoothing.hpp"
#include "verbs.hpp"

int main(int argc, char** argv) {
  using namespace perdure::mesh_bench;
  int provided = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const std::string verb = argc > 1 ? argv[1] : "";
  try {
    if (verb == "blocking")
      blocking({argc, argv});
    else if (verb == "restarting")
      restarting({argc, argv});
    else
      std::fprintf(stderr, "mesh_bench blocking|restarting --key value...\n"), status = 2;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "mesh_bench: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
