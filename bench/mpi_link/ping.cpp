#include "ping.hpp"

#include <mpi.h>

#include <algorithm>

#include "references.hpp"

namespace perdure::mpi_link {

End::End(int rank, int peer, std::uint64_t max_bytes)
    : peer_(peer), first_(rank < peer), sent_(max_bytes), received_(max_bytes), expected_(max_bytes) {
  bench::fill_random(sent_, static_cast<unsigned>(rank) + 1);
  bench::fill_random(expected_, static_cast<unsigned>(peer) + 1);
}

double End::measure(Pattern pattern, std::uint64_t bytes, int iterations) {
  std::fill_n(received_.begin(), bytes, '\xff');
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer_, 1, nullptr, 0, MPI_BYTE, peer_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double begin = bench::now_s();
  for (int i = 0; i < iterations; ++i) one(pattern, static_cast<int>(bytes));
  const double seconds = (bench::now_s() - begin) / iterations;
  return pattern == Pattern::pingpong ? seconds / 2 : seconds;
}

base::Status End::verify(std::uint64_t bytes) const {
  if (std::equal(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(bytes), expected_.begin()))
    return {};
  return base::fail(PERDURE_CORRUPT,
                    "a message of " + std::to_string(bytes) + " bytes from rank " + std::to_string(peer_),
                    "holds other bytes than were sent", "do not trust this network");
}

void End::one(Pattern pattern, int bytes) {
  const auto receive = [&] {
    MPI_Recv(received_.data(), bytes, MPI_BYTE, peer_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  if (pattern == Pattern::pingping) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent_.data(), bytes, MPI_BYTE, peer_, 0, MPI_COMM_WORLD, &request);
    receive();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  if (!first_) receive();
  MPI_Send(sent_.data(), bytes, MPI_BYTE, peer_, 0, MPI_COMM_WORLD);
  if (first_) receive();
}

}  // namespace perdure::mpi_link
