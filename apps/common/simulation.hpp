#pragma once
// Runs a mesh program: it begins, advances step by step, and ends, with protection in between.
#include <mpi.h>

#include <optional>

#include "checkpointing.hpp"
#include "fields_file.hpp"
#include "mesh/mpi_ranks.hpp"
#include "mesh_program.hpp"

/// Options of every program.
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

/// `Simulation` is constructed from a mesh, `input` and the digits of its output. It has begin(), goes_on(), advance()
/// and end(), and fields(), which returns the fields to write at the end. Its changing state must be in its data sets,
/// or follow from the input, the number of steps, and the reductions.
template <class Simulation, class Input>
void simulate(CommonOptions& common, const Input& input) {
  std::optional<perdure::mesh::Mesh> mesh;
  std::optional<Simulation> simulation;
  try {
    mesh.emplace(perdure::mesh::mpi_ranks(MPI_COMM_WORLD), common.mesh);
    simulation.emplace(*mesh, input, common.digits);
  } catch (const std::runtime_error& refused) {  // too many ranks, for example
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
