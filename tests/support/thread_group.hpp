#pragma once
// Runs a group of ranks as threads of one process with a perdure_communicator: collectives without MPI, for tests and
// studies.
#include <algorithm>
#include <barrier>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "perdure/perdure.h"

namespace perdure::test_support {

class ThreadGroup {
 public:
  explicit ThreadGroup(int size) : size_(size), barrier_(size), given_(static_cast<std::size_t>(size)) {}

  /// Returns the communicator of one rank, for one thread at a time. `released` counts calls of release.
  perdure_communicator rank(int rank) {
    members_.push_back(std::make_unique<Member>(Member{this, rank}));
    return {rank, size_, members_.back().get(), barrier, allreduce, allgather, broadcast, release};
  }
  int released() const { return released_; }
  /// From now on every collective fails, as after the death of a rank.
  void break_down() { broken_ = true; }

  /// Runs `work(communicator)` on every rank, each in a thread, and waits for all.
  template <class Work>
  void run(const Work& work) {
    std::vector<perdure_communicator> ranks;
    for (int i = 0; i < size_; ++i) ranks.push_back(rank(i));
    std::vector<std::thread> threads;
    for (const perdure_communicator& c : ranks) threads.emplace_back([&work, &c] { work(c); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  struct Member {
    ThreadGroup* group;
    int rank;
  };
  static Member& member(void* context) { return *static_cast<Member*>(context); }

  /// Shows `mine` to all ranks, waits, lets `use(given)` read everything, and waits until all have read.
  template <class Use>
  static int exchange(void* context, const void* mine, const Use& use) {
    Member& self = member(context);
    if (self.group->broken_) return 1;
    self.group->given_[static_cast<std::size_t>(self.rank)] = mine;
    self.group->barrier_.arrive_and_wait();
    use(self.group->given_);
    self.group->barrier_.arrive_and_wait();
    return 0;
  }
  using Given = std::vector<const void*>;

  static int barrier(void* context) {
    return exchange(context, nullptr, [](const Given&) {});
  }
  static int allreduce(void* context, uint64_t* values, size_t count, int operation) {
    const std::vector<uint64_t> mine(values, values + count);
    return exchange(context, mine.data(), [&](const Given& given) {
      ThreadGroup& group = *member(context).group;
      // One rank reduces for all: with 512 ranks, each reducing for itself would cost 512 times as much.
      if (member(context).rank == 0) group.reduced_ = reduced(given, count, operation);
      group.barrier_.arrive_and_wait();
      std::copy(group.reduced_.begin(), group.reduced_.end(), values);
    });
  }
  static std::vector<uint64_t> reduced(const Given& given, size_t count, int operation) {
    const auto* first = static_cast<const uint64_t*>(given[0]);
    std::vector<uint64_t> values(first, first + count);
    for (std::size_t r = 1; r < given.size(); ++r) {
      const auto* other = static_cast<const uint64_t*>(given[r]);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = operation == 0   ? std::min(values[i], other[i])
                    : operation == 1 ? std::max(values[i], other[i])
                                     : values[i] + other[i];
    }
    return values;
  }
  static int allgather(void* context, const void* mine, size_t bytes, void* all) {
    return exchange(context, mine, [&](const Given& given) {
      for (std::size_t r = 0; r < given.size(); ++r) std::memcpy(static_cast<char*>(all) + r * bytes, given[r], bytes);
    });
  }
  static int broadcast(void* context, void* data, size_t bytes, int root) {
    return exchange(context, data, [&](const Given& given) {
      if (member(context).rank != root) std::memcpy(data, given[static_cast<std::size_t>(root)], bytes);
    });
  }
  static void release(void* context) { ++member(context).group->released_; }

  int size_;
  std::barrier<> barrier_;
  std::vector<const void*> given_;
  std::vector<std::uint64_t> reduced_;
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<int> released_{0};
  std::atomic<bool> broken_{false};
};

}  // namespace perdure::test_support
