#pragma once
// Lists pages by category (PAGEMAP_SCAN, Linux 6.7 and later). Debian's headers do not have it yet.
#include <cstdint>
#include <optional>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

struct PageCategories {
  static constexpr std::uint64_t followed = 1 << 0;  ///< its writes are noted (write protection without a handler)
  static constexpr std::uint64_t written = 1 << 1;   ///< since it was protected, or it was never protected
  static constexpr std::uint64_t file = 1 << 2, present = 1 << 3, swapped = 1 << 4, zero_page = 1 << 5;
  /// A guard region (MADV_GUARD_INSTALL). It also counts as swapped. Linux 6.15 and later report it.
  static constexpr std::uint64_t guard = 1 << 8;
  std::uint64_t has_any = present | swapped;
  std::uint64_t has_all = 0;
  std::uint64_t has_none = 0;
};

/// Appends pages to ascending runs, and merges adjacent ones.
void append_pages(std::vector<PageRun>& runs, std::uint64_t begin, std::uint64_t end);

/// Lists pages in [begin, end) of the process with this open pagemap. With `protect`, they count as unwritten from now
/// on. Returns nothing if this kernel cannot do it, or we may not.
std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, bool protect = false);

/// As scan_pages() above, but adds guard regions to `guards` instead.
std::optional<std::vector<PageRun>> scan_pages(int pagemap, std::uint64_t begin, std::uint64_t end,
                                               const PageCategories& wanted, std::vector<PageRun>& guards);

/// The state of followed pages at one moment.
struct FollowedPages {
  std::vector<PageRun> memory;     ///< the ranges that were examined
  std::vector<PageRun> present;    ///< pages with content that exists only there, ascending
  std::vector<PageRun> unwritten;  ///< those that were not written since they were protected
  std::vector<PageRun> guards;
  bool looked_at(std::uint64_t begin, std::uint64_t end) const;
  /// Returns the parts of `present` in [begin, end).
  std::vector<PageRun> present_in(std::uint64_t begin, std::uint64_t end) const;
  std::vector<PageRun> guards_in(std::uint64_t begin, std::uint64_t end) const;
};
/// Examines `memory`, which is ascending, with as many threads as the work needs. A range missing in the result could
/// not be examined.
FollowedPages look_at_followed(int pagemap, const std::vector<PageRun>& memory);

}  // namespace perdure::process
