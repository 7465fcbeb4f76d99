#pragma once
// Refuses memory at every place, one after the other. Test programs, and a perdured that is built for them, link this
// operator new. It throws at the first allocation of each place where it has not thrown yet. A place is the call stack
// that led there. So as many jobs as there are places try all of them, in any order of threads.
#include <cstdint>
#include <string>
#include <vector>

namespace perdure::test_support {

/// A plan of refusals, in a file that all processes of a test share.
struct RefusalPlan {
  std::uint64_t each = 1;  ///< one of so many places is refused; `chosen` selects it
  std::uint64_t chosen = 0;
  std::uint64_t depth = 12;    ///< a place is so many functions deep
  std::uint64_t in_a_row = 1;  ///< number of refusals in a row to a thread, once it is refused
};

/// Owns the file, and reports what happened.
class Refusals {
 public:
  Refusals(const std::string& file, const RefusalPlan& plan);
  ~Refusals();
  Refusals(const Refusals&) = delete;
  Refusals& operator=(const Refusals&) = delete;
  /// From now on memory is refused at up to `places` new places.
  void allow(int places);
  bool used() const;             ///< all allowed refusals have happened
  std::uint64_t places() const;  ///< number of places tried so far
  std::string last() const;      ///< the functions of the last place, as addresses in the program

 private:
  struct Shared* shared_;
  friend class RefusalAccess;
};

/// Reads the file, in a process whose memory may be refused. Before this call, and without a file, nothing is refused.
void obey_refusals(const std::string& file);

/// While one of these lives, memory of this thread is not refused, because the test's own code runs.
class OwnMemory {
 public:
  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
};

/// While this lives, this thread's memory is refused `count` times, after `after` successful allocations.
class RefusedHere {
 public:
  explicit RefusedHere(std::uint64_t after, std::uint64_t count = 1);
  ~RefusedHere();
  RefusedHere(const RefusedHere&) = delete;
  RefusedHere& operator=(const RefusedHere&) = delete;
  static bool over();  ///< all refusals have happened
};

/// Marks a call of Perdure within OwnMemory.
class PerduresMemory {
 public:
  PerduresMemory();
  ~PerduresMemory();
  PerduresMemory(const PerduresMemory&) = delete;
  PerduresMemory& operator=(const PerduresMemory&) = delete;

 private:
  int own_;
};

}  // namespace perdure::test_support
