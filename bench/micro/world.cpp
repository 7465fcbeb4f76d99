#include "world.hpp"

#include <chrono>
#include <thread>

#include "together.hpp"

namespace perdure::micro {

World::World(int& argc, char**& argv) {
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  other_threads_ = granted >= MPI_THREAD_FUNNELED;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

World::~World() { MPI_Finalize(); }

Group::Group(MPI_Comm parent, int color, int key) {
  MPI_Comm_split(parent, color < 0 ? MPI_UNDEFINED : color, key, &comm_);
}

Group::~Group() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

int Group::rank() const {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  return rank;
}

int Group::size() const {
  int size = 0;
  MPI_Comm_size(comm_, &size);
  return size;
}

base::Status agree(const base::Status& mine, MPI_Comm among) {
  int rank = 0, size = 0;
  MPI_Comm_rank(among, &rank);
  MPI_Comm_size(among, &size);
  int first = mine ? size : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, among);
  if (first == size) return {};
  base::Error error = mine ? base::Error{} : mine.error();
  int code = error.code;
  MPI_Bcast(&code, 1, MPI_INT, first, among);
  error.code = static_cast<base::ErrorCode>(code);
  for (std::string* text : {&error.object, &error.cause, &error.remedy})
    *text = bench::broadcast(std::move(*text), first, among);
  return base::fail(std::move(error));
}

void wait_quietly(MPI_Comm among) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(among, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

std::vector<double> gather(double value, MPI_Comm among) {
  int size = 0;
  MPI_Comm_size(among, &size);
  std::vector<double> values(static_cast<std::size_t>(size));
  MPI_Gather(&value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, 0, among);
  return values;
}

}  // namespace perdure::micro
