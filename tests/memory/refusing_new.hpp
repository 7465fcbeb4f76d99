#pragma once
// Memory that is refused at every place, one after the other: an operator new for test programs (and for a perdured
// that is built for them), which throws at the first allocation of a place where it has not thrown yet. A place is the
// functions that led there, so that as many jobs as there are places try all of them, in whatever order threads come
// by.
#include <cstdint>
#include <string>
#include <vector>

namespace perdure::test_support {

/// What is tried: kept in a file that all processes of a test share.
struct RefusalPlan {
  std::uint64_t each = 1;  ///< of so many places one, chosen by `chosen`
  std::uint64_t chosen = 0;
  std::uint64_t depth = 12;    ///< so many functions are a place
  std::uint64_t in_a_row = 1;  ///< the thread gets no memory so many times, once it is refused
};

/// Who keeps the file and asks what happened.
class Refusals {
 public:
  Refusals(const std::string& file, const RefusalPlan& plan);
  ~Refusals();
  Refusals(const Refusals&) = delete;
  Refusals& operator=(const Refusals&) = delete;
  /// From now on memory is refused at so many new places.
  void allow(int places);
  bool used() const;             ///< all that were allowed were found
  std::uint64_t places() const;  ///< tried so far
  std::string last() const;      ///< the functions of the place tried last, as addresses in the program

 private:
  struct Shared* shared_;
  friend class RefusalAccess;
};

/// In a process whose memory may be refused: reads the file. Until then, and without it, memory is not refused.
void obey_refusals(const std::string& file);

/// Memory of this thread is not refused while one of these lives: it is the test's own code.
class OwnMemory {
 public:
  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
};

/// Memory of this thread is refused `count` times, after `after` times that it is not, while this lives.
class RefusedHere {
 public:
  explicit RefusedHere(std::uint64_t after, std::uint64_t count = 1);
  ~RefusedHere();
  RefusedHere(const RefusedHere&) = delete;
  RefusedHere& operator=(const RefusedHere&) = delete;
  static bool over();  ///< it was refused so many times
};

/// And this is a call of Perdure in the midst of it.
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
