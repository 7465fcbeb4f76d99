#pragma once
// A new process carries out these system calls by itself, before it gets its memory. It is a fork of this process, so
// their arguments have the same addresses there.
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
  std::int64_t least = 0;  ///< the smallest result that means success
  bool may_fail = false;   ///< the list continues after any result
};

/// A list of calls with their memory, whose addresses stay valid.
class Operations {
 public:
  void add(const SystemCall& call, std::string what, std::int64_t least = 0) {
    list_.push_back({call, std::move(what), least, false});
  }
  void try_to(const SystemCall& call, std::string what) { list_.push_back({call, std::move(what), 0, true}); }
  /// Returns the address of a copy.
  std::uint64_t keep(base::ConstByteSpan bytes) {
    memory_.emplace_back(bytes.begin(), bytes.end());
    return reinterpret_cast<std::uint64_t>(memory_.back().data());
  }
  const std::vector<Operation>& list() const { return list_; }

 private:
  std::vector<Operation> list_;
  std::deque<std::vector<std::byte>> memory_;
};

/// The progress of a list, in memory that both processes share (MAP_SHARED).
struct OperationsOutcome {
  std::uint64_t done = 0;  ///< calls that were made, including one that failed
  bool failed = false;
  std::int32_t error = 0;  ///< errno; 0: the result was too small
};

/// Runs in the new process. It stops at the first call that fails and may not. It allocates nothing and takes no lock.
void run_operations(const std::vector<Operation>& list, OperationsOutcome* outcome) noexcept;
/// Names the failed call for people; empty if none failed.
std::string text_of(const OperationsOutcome& outcome, const std::vector<Operation>& list);

}  // namespace perdure::process
