#pragma once
// Guards memory that the program should not touch for a while. A thread that touches it continues, and the guard
// records where. It uses mprotect and a handler of SIGSEGV, for whole pages of private writable memory. Only one user
// in a process at a time.
#include <cstdint>
#include <span>
#include <vector>

namespace perdure::automatic {

/// Bytes of memory from `begin` to before `end`.
struct Bytes {
  std::uintptr_t begin = 0, end = 0;
};
/// Returns the bytes of `all` that are not in `without`: disjoint, in order.
std::vector<Bytes> difference(std::vector<Bytes> all, std::vector<Bytes> without);
/// Returns the whole pages within these pieces.
std::vector<Bytes> whole_pages(std::span<const Bytes> pieces, std::uintptr_t page_bytes);

class GuardedPages {
 public:
  GuardedPages() = default;
  ~GuardedPages() { (void)release(); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  /// Guards what it can of `pieces`, which must be disjoint: pages that contain nothing else. Does nothing if another
  /// user in the process guards. The first touch of a piece removes its guard.
  void guard(std::span<const Bytes> pieces);
  /// Removes all guards. Returns the first touched address of each piece that was touched.
  std::vector<std::uintptr_t> release();

 private:
  bool guards_ = false;
};

}  // namespace perdure::automatic
