#pragma once
// System calls that a process in the making carries out by itself, one after the other, before it gets its memory: it
// is a copy of this process (fork) and has the memory that they point to at the same addresses.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "process/registers.hpp"

namespace perdure::process {

struct Operation {
  SystemCall call{};
  std::string what;        ///< for people: "file 7, 'log.txt', is opened"
  std::int64_t least = 0;  ///< the least answer that is right
  bool may_fail = false;   ///< goes on whatever the answer is
};

/// A list of them, and the memory that they need, which stays where it is.
class Operations {
 public:
  void add(const SystemCall& call, std::string what, std::int64_t least = 0) {
    list_.push_back({call, std::move(what), least, false});
  }
  void try_to(const SystemCall& call, std::string what) { list_.push_back({call, std::move(what), 0, true}); }
  /// The address of a copy.
  std::uint64_t keep(base::ConstByteSpan bytes) {
    memory_.emplace_back(bytes.begin(), bytes.end());
    return reinterpret_cast<std::uint64_t>(memory_.back().data());
  }
  const std::vector<Operation>& list() const { return list_; }

 private:
  std::vector<Operation> list_;
  std::deque<std::vector<std::byte>> memory_;
};

/// How far a list got; in memory that both processes have (MAP_SHARED).
struct OperationsOutcome {
  std::uint64_t done = 0;  ///< calls that were made, the one that failed among them
  bool failed = false;
  std::int32_t error = 0;  ///< errno; 0: its answer was less than what is right
};

/// In the new process: one call after the other, until one fails that may not. It allocates nothing and takes no lock.
void run_operations(const std::vector<Operation>& list, OperationsOutcome* outcome) noexcept;
/// What failed, for people; empty when nothing did.
std::string text_of(const OperationsOutcome& outcome, const std::vector<Operation>& list);

}  // namespace perdure::process
