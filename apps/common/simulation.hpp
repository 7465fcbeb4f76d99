#pragma once
// What a program on a mesh does: it begins, goes on step by step, and ends; protected in between.
#include <mpi.h>

#include <optional>

#include "checkpointing.hpp"
#include "fields_file.hpp"
#include "mesh/mpi_ranks.hpp"
#include "mesh_program.hpp"

/// What the user says of every program.
struct CommonOptions {
  perdure::mesh::Options mesh;
  Checkpointing checkpointing;
  FieldsFile fields;
  Digits digits;
  void add(CLI::App& app) {
    add_mesh_options(app, mesh);
    checkpointing.add_options(app, app.get_name());
    fields.add_options(app);
    digits.add_option(app);
  }
};

/// `Simulation` is made of a mesh, `input` and the digits of what it prints, and has begin(), goes_on(), advance() and
/// end(), and fields(), which are what others want to see at the end. What changes from step to step is in its data
/// sets, or follows from the input, the number of steps, and from what reductions said.
template <class Simulation, class Input>
void simulate(CommonOptions& common, const Input& input) {
  std::optional<perdure::mesh::Mesh> mesh;
  std::optional<Simulation> simulation;
  try {
    mesh.emplace(perdure::mesh::mpi_ranks(MPI_COMM_WORLD), common.mesh);
    simulation.emplace(*mesh, input, common.digits);
  } catch (const std::runtime_error& refused) {  // so many ranks, say
    throw WrongInput(refused.what());
  }
  common.fields.begin(*mesh);
  simulation->begin();
  common.checkpointing.protect(*mesh);
  while (simulation->goes_on()) simulation->advance();
  common.checkpointing.report();
  simulation->end();
  if (common.fields.wanted()) common.fields.write(*mesh, simulation->fields());
  common.checkpointing.close();
}
