#pragma once
// Memory that nobody may touch for a while. Whoever touches it goes on, and it is known where he did. By mprotect and a
// handler of SIGSEGV, for whole pages of private memory that can be written; of one user in a process at a time.
#include <cstdint>
#include <span>
#include <vector>

namespace perdure::automatic {

/// Bytes of memory, `end` not among them.
struct Bytes {
  std::uintptr_t begin = 0, end = 0;
};
/// The bytes of `all` that are not in `without`: disjoint, in their order.
std::vector<Bytes> difference(std::vector<Bytes> all, std::vector<Bytes> without);
/// The whole pages within these pieces.
std::vector<Bytes> whole_pages(std::span<const Bytes> pieces, std::uintptr_t page_bytes);

class GuardedPages {
 public:
  GuardedPages() = default;
  ~GuardedPages() { (void)release(); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  /// Guards what it can of `pieces`, which are disjoint: pages that are all theirs. Nothing where another one in the
  /// process does so. From here on a touch takes the guard off the piece.
  void guard(std::span<const Bytes> pieces);
  /// Takes all guards off. The first address of each piece that was touched.
  std::vector<std::uintptr_t> release();

 private:
  bool guards_ = false;
};

}  // namespace perdure::automatic
