#include "ring.hpp"

#include <mpi.h>

#include <algorithm>

#include "app.h"

namespace nbody {

Ring::Ring(std::size_t total, int rank, int ranks) : total_(total), rank_(rank), ranks_(ranks) {}

void Ring::travel(const Block& own, const std::function<void(const Block&, bool)>& meet) {
  meet(own, true);
  here_.clear();
  for (const auto* part : {&own.position.x, &own.position.y, &own.position.z, &own.mass}) {
    here_.insert(here_.end(), part->begin(), part->end());
  }
  for (int distance = 1; distance < ranks_; ++distance) {
    pass(distance);
    meet(guest_, false);
  }
}

void Ring::pass(int distance) {
  const int left = (rank_ + ranks_ - 1) % ranks_, right = (rank_ + 1) % ranks_;
  const int owner = (rank_ + ranks_ - distance) % ranks_;  // the rank whose bodies arrive from the left now
  const auto count = static_cast<std::size_t>(app_share(static_cast<long>(total_), ranks_, owner));
  coming_.resize(4 * count);
  MPI_Sendrecv(here_.data(), static_cast<int>(here_.size()), MPI_DOUBLE, right, distance, coming_.data(),
               static_cast<int>(coming_.size()), MPI_DOUBLE, left, distance, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  here_.swap(coming_);
  auto from = here_.cbegin();
  for (auto* part : {&guest_.position.x, &guest_.position.y, &guest_.position.z, &guest_.mass}) {
    part->assign(from, from + static_cast<std::ptrdiff_t>(count));
    from += static_cast<std::ptrdiff_t>(count);
  }
}

}  // namespace nbody
