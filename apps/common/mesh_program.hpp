#pragma once
// Provides the common part of mesh programs: options, errors, and the hash of the final state.
#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "mesh/mesh.hpp"

/// An error in the user's input: the program prints it and ends with status 2.
struct WrongInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// --threads, --reproducible, --check.
void add_mesh_options(CLI::App& app, perdure::mesh::Options& options);

/// The number of digits in a summary: the usual one, or --digits.
class Digits {
 public:
  void add_option(CLI::App& app);
  /// Returns the columns of a number that usually takes `usual`.
  int width(int usual) const;
  /// Formats as 1.5E+00, in width(columns) columns, with `decimals` decimals by default.
  std::string scientific(double value, int columns, int decimals) const;
  /// Formats as 1.500; with --digits as above.
  std::string fixed(double value, int columns, int decimals) const;
  /// Formats in as few columns as possible, with `digits` digits by default.
  std::string shortest(double value, int digits) const;

 private:
  int digits_ = 0;  // 0: the default
};

/// Parses the command line and runs `body` between MPI_Init and MPI_Finalize. Returns the status for main(): 0, or 2
/// for a user's error; other errors abort the job.
int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& body);

/// Hashes the elements of `sets`, without their halos. Equal bits give the same hash on any number of ranks.
/// [collective]
std::string state_hash(perdure::mesh::Mesh& mesh, std::span<perdure::mesh::Data<double>* const> sets);
