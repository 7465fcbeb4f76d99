#include "smoothing.hpp"

#include <algorithm>

#include "mesh/mpi_ranks.hpp"

namespace perdure::mesh_bench {

std::string places(const Arguments& arguments) {
  const std::string directory = arguments.text("--directory");
  return "job=mesh;store.path=" + directory + "/store;node.path=" + directory +
         "/node;tier.order=memory;retention.keep_last=1";
}

Smoothing::Smoothing(std::int64_t columns, std::int64_t rows)
    : mesh_(mesh::mpi_ranks(MPI_COMM_WORLD)), block_(mesh_.block("domain", {columns, rows})) {
  for (std::size_t field = 0; field < kFields; ++field) {
    now_[field] = &mesh_.data(block_, std::string("now_") + "abcd"[field]);
    next_[field] = &mesh_.data(block_, std::string("next_") + "abcd"[field]);
    mesh_.par_loop(
        "begin", block_, now_[field]->whole(),
        [](auto& now, const mesh::Index& at) { now(0) = static_cast<double>((at[0] * 7 + at[1] * 13) % 101); },
        mesh::write(*now_[field]), mesh::index());
  }
}

double Smoothing::greatest() {
  auto most = mesh_.most();
  mesh_.par_loop(
      "greatest", block_, mesh::box({{0, block_.cells[0]}, {0, 1}}),
      [](const auto& now, double& all) { all = std::max(all, now(0)); }, mesh::read(*now_[0]), mesh::into(most));
  return mesh_.collect(most);
}

}  // namespace perdure::mesh_bench
