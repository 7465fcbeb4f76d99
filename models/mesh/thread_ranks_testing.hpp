#pragma once
// Runs ranks as threads of one test, each with its own mesh; they communicate only by these calls.
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mesh/ranks.hpp"

namespace perdure::mesh {

class ThreadGroup {
 public:
  explicit ThreadGroup(int size) : size_(size) {}
  std::unique_ptr<Ranks> rank(int rank) { return std::make_unique<One>(*this, rank); }
  /// Marks one rank as dead: the others' calls throw.
  void end() {
    std::lock_guard guard(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  class One final : public Ranks {
   public:
    One(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return group_.size_; }
    void exchange(std::span<const Message> receives, std::span<const Message> sends) override {
      for (const Message& message : sends) group_.put({rank_, message.peer}, message.bytes);
      for (const Message& message : receives) group_.take({message.peer, rank_}, message.bytes);
    }
    void combine(std::span<double> values, Combine how) override {
      group_.combine(
          values,
          [how](double& all, double one) {
            if (how == Combine::sum) all += one;
            if (how == Combine::least) all = std::min(all, one);
            if (how == Combine::most) all = std::max(all, one);
          },
          rank_);
    }
    void combine(std::span<std::int64_t> sums) override {
      group_.combine(
          sums, [](std::int64_t& all, std::int64_t one) { all += one; }, rank_);
    }

   private:
    ThreadGroup& group_;
    int rank_;
  };
  using Pair = std::pair<int, int>;

  void put(Pair pair, std::span<const std::byte> bytes) {
    std::lock_guard guard(mutex_);
    messages_[pair].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }
  void take(Pair pair, std::span<std::byte> target) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || !messages_[pair].empty(); });
    if (messages_[pair].empty()) throw std::runtime_error("another rank has died");
    const auto& bytes = messages_[pair].front();
    if (bytes.size() != target.size()) throw std::runtime_error("a message of another size");
    std::memcpy(target.data(), bytes.data(), bytes.size());
    messages_[pair].pop_front();
  }
  // Rank 0 combines in rank order.
  template <class T, class With>
  void combine(std::span<T> values, const With& with, int rank) {
    const auto bytes = std::as_writable_bytes(values);
    if (rank != 0) {
      put({rank, 0}, bytes);
      return take({0, rank}, bytes);
    }
    std::vector<T> other(values.size());
    for (int from = 1; from < size_; ++from) {
      take({from, 0}, std::as_writable_bytes(std::span(other)));
      for (std::size_t i = 0; i < other.size(); ++i) with(values[i], other[i]);
    }
    for (int to = 1; to < size_; ++to) put({0, to}, bytes);
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Pair, std::deque<std::vector<std::byte>>> messages_;
  bool ended_ = false;
};

/// Calls `body(ranks)` on each of `size` threads; throws an exception of one of them.
inline void on_ranks(int size, const std::function<void(std::unique_ptr<Ranks>)>& body) {
  ThreadGroup group(size);
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(group.rank(rank));
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        group.end();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace perdure::mesh
