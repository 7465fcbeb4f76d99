#pragma once
// What a program on a mesh does: it begins, goes on step by step, and ends; protected in between.
#include <mpi.h>

#include <optional>

#include "checkpointing.hpp"
#include "mesh/mpi_ranks.hpp"
#include "mesh_program.hpp"

/// `Simulation` is made of a mesh and `input`, and has begin(), goes_on(), advance() and end(). What changes from step
/// to step is in its data sets, or follows from the input, the number of steps, and from what reductions said.
template <class Simulation, class Input>
void simulate(const perdure::mesh::Options& options, const Input& input, Checkpointing& checkpointing) {
  std::optional<perdure::mesh::Mesh> mesh;
  std::optional<Simulation> simulation;
  try {
    mesh.emplace(perdure::mesh::mpi_ranks(MPI_COMM_WORLD), options);
    simulation.emplace(*mesh, input);
  } catch (const std::runtime_error& refused) {  // so many ranks, say
    throw WrongInput(refused.what());
  }
  simulation->begin();
  checkpointing.protect(*mesh);
  while (simulation->goes_on()) simulation->advance();
  checkpointing.report();
  simulation->end();
  checkpointing.close();
}
