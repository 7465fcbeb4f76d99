#include "capi_mpi/roll_call.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "perdure/perdure_ranks.h"

namespace perdure::capi_mpi {
namespace {

using Clock = std::chrono::steady_clock;

// Only these messages go from rank to rank of the group: everything else is a collective call.
constexpr int kHere = 1, kText = 2, kCall = 3;
constexpr int kMostCollectors = 8;
using Text = std::array<char, 400>;

class RollCall {
 public:
  RollCall(MPI_Comm comm, double seconds) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    // Ranks come one after the other; the wait for the text is as long again.
    const double grace_s = std::clamp(seconds / 10, 1.0, 10.0);
    collected_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(grace_s));
    told_ = collected_ + (collected_ - Clock::now());
  }
  void run() {
    came_.assign(static_cast<std::size_t>(size_), 0);
    came_[static_cast<std::size_t>(rank_)] = 1;
    for (int i = 0; i < collectors(); ++i)
      if (collector(i) != rank_) send("", 1, collector(i), kHere);
    if (!collects(rank_)) return listen();
    for (int rank = 0; rank < size_; ++rank)
      if (!collects(rank)) send("", 1, rank, kCall);
    int others = 0;  // ranks that have come; one at least has not
    while (others + 2 < size_ && Clock::now() < collected_) others += hear() ? 1 : pause();
    while (hear()) continue;
    int lowest = 0;
    while (came_[static_cast<std::size_t>(collector(lowest))] == 0) ++lowest;
    if (collector(lowest) == rank_)
      tell();
    else
      listen();
  }

 private:
  int collectors() const { return std::min(size_, kMostCollectors); }
  int collector(int number) const { return static_cast<int>(static_cast<long long>(size_) * number / collectors()); }
  bool collects(int rank) const {
    for (int i = 0; i < collectors(); ++i)
      if (collector(i) == rank) return true;
    return false;
  }
  // `text` outlives the call: the send is not waited for.
  void send(const char* text, std::size_t bytes, int to, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(text, static_cast<int>(bytes), MPI_CHAR, to, tag, comm_, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
  bool next(int tag, MPI_Status& status) const {
    int there = 0;
    return MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status) == MPI_SUCCESS && there != 0;
  }
  bool hear() {
    MPI_Status status;
    char byte = 0;
    if (!next(kHere, status)) return false;
    if (MPI_Recv(&byte, 1, MPI_CHAR, status.MPI_SOURCE, kHere, comm_, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    came_[static_cast<std::size_t>(status.MPI_SOURCE)] = 1;
    return true;
  }
  static int pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: for messages of MPI, which has no other way
    return 0;
  }
  void tell() {
    static Text text;  // MPI may read it for long
    perdure_came(came_.data(), came_.size(), text.data(), text.size());
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_ && came_[static_cast<std::size_t>(rank)] != 0) send(text.data(), text.size(), rank, kText);
    perdure_late(text.data());
    // Answers them while this rank makes calls of MPI.
    MPI_Status status;
    const auto for_all = std::chrono::milliseconds(100) + size_ * std::chrono::microseconds(20);
    for (const auto end = Clock::now() + for_all; Clock::now() < end; pause()) (void)next(kText, status);
  }
  void listen() {
    MPI_Status status;
    Text text{};
    while (!next(kText, status))
      if (Clock::now() < told_)
        pause();
      else
        return perdure_late("this rank has come, and of the others nothing is known");
    if (MPI_Recv(text.data(), static_cast<int>(text.size()), MPI_CHAR, status.MPI_SOURCE, kText, comm_,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      text = {};
    text.back() = '\0';
    perdure_late(text.data());
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  Clock::time_point collected_, told_;
  std::vector<unsigned char> came_;
};

}  // namespace

bool roll_is_called(MPI_Comm comm) {
  for (const int tag : {kHere, kCall}) {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, tag, comm, &there, &status) == MPI_SUCCESS && there != 0) return true;
  }
  return false;
}

void call_the_roll(MPI_Comm comm, double seconds) {
  try {
    RollCall(comm, seconds).run();
  } catch (...) {  // no memory
    perdure_late("this rank has come, and has no memory to ask for the others");
  }
}

}  // namespace perdure::capi_mpi
