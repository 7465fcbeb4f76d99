#include "back_end.hpp"

#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace perdure::peers_bench {

Outcome called(bool good, const char* call) {
  if (good) return {};
  return failed(std::string(call) + " failed");
}

std::vector<std::string> settings_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ';');)
    if (!one.empty()) all.push_back(one);
  return all;
}

Outcome make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return failed(path + ": " + error.message());
  return {};
}

Outcome write_configuration(const std::string& path, const std::string& text) {
  int rank = 0, good = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::ofstream out(path);
    out << text;
    out.close();
    good = out ? 1 : 0;
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (good == 0) return failed("cannot write " + path);
  return {};
}

}  // namespace perdure::peers_bench
