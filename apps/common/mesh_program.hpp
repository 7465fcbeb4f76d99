#pragma once
// What programs on a mesh have in common: options, errors, and the hash of what they end with.
#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "mesh/mesh.hpp"

/// What the user wrote is wrong: the program says so and ends with status 2.
struct WrongInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// --threads, --reproducible, --check.
void add_mesh_options(CLI::App& app, perdure::mesh::Options& options);

/// How many digits the numbers of a summary have: as its readers know them, or --digits.
class Digits {
 public:
  void add_option(CLI::App& app);
  /// The columns of a number that usually takes `usual`.
  int width(int usual) const;
  /// As 1.5E+00, in width(columns) columns; usually with so many decimals.
  std::string scientific(double value, int columns, int decimals) const;
  /// As 1.500; with --digits as above.
  std::string fixed(double value, int columns, int decimals) const;
  /// In as few columns as it needs, with so many digits usually.
  std::string shortest(double value, int digits) const;

 private:
  int digits_ = 0;  // 0: as usual
};

/// Parses the command line and runs `body` between MPI_Init and MPI_Finalize. What main() returns: 0, or 2 where the
/// user is wrong; other errors abort the job.
int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& body);

/// Of the elements of `sets`, without their halos: the same for the same bits, on however many ranks. [collective]
std::string state_hash(perdure::mesh::Mesh& mesh, std::span<perdure::mesh::Data<double>* const> sets);
