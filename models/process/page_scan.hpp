#pragma once
// The kernel's list of pages by what they are (PAGEMAP_SCAN, 6.7 and later), which Debian's headers do not have yet.
#include <cstdint>
#include <optional>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

struct PageCategories {
  static constexpr std::uint64_t followed = 1 << 0;  ///< writes to it are noted (write protection without a handler)
  static constexpr std::uint64_t written = 1 << 1;   ///< since it was protected; or it never was
  static constexpr std::uint64_t file = 1 << 2, present = 1 << 3, swapped = 1 << 4, zero_page = 1 << 5;
  /// The program has the kernel refuse it (MADV_GUARD_INSTALL): counts as swapped, too. 6.15 and later tell it.
  static constexpr std::uint64_t guard = 1 << 8;
  std::uint64_t has_any = present | swapped;
  std::uint64_t has_all = 0;
  std::uint64_t has_none = 0;
};

/// Adds pages to runs that are ascending, as one run where they touch.
void append_pages(std::vector<PageRun>& runs, std::uint64_t begin, std::uint64_t end);

/// Pages in [begin, end) of the process whose file pagemap is open; with `protect` they count as not written from now
/// on. Nothing: this kernel cannot, or may not, say it like this.
std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, bool protect = false);

/// scan_pages(), which leaves out guards and adds them to `guards`.
std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, std::vector<PageRun>& guards);

/// As the pages of a process that is followed are now.
struct FollowedPages {
  std::vector<PageRun> memory;     ///< where they were looked for
  std::vector<PageRun> present;    ///< that have content that is nowhere else, ascending
  std::vector<PageRun> unwritten;  ///< of them, since they were protected
  std::vector<PageRun> guards;
  bool looked_at(std::uint64_t begin, std::uint64_t end) const;
  /// Those of `present` in [begin, end).
  std::vector<PageRun> present_in(std::uint64_t begin, std::uint64_t end) const;
  std::vector<PageRun> guards_in(std::uint64_t begin, std::uint64_t end) const;
};
/// Of the memory in `memory`, ascending, by as many threads as there is work for. What is missing nobody knows about.
FollowedPages look_at_followed(int pagemap, const std::vector<PageRun>& memory);

}  // namespace perdure::process
