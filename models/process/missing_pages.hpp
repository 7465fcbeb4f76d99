#pragma once
// Keeps which pages have not come yet, and where they are now. The process runs, drops memory and moves it. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

class MissingPages {
 public:
  /// At first, pages are at their addresses in the image.
  explicit MissingPages(const std::vector<PageRun>& runs);
  bool empty() const { return ranges_.empty(); }
  /// Returns the image address of the missing page at `address`; nothing if it is not missing.
  std::optional<std::uint64_t> origin_of(std::uint64_t address) const;
  /// The pages have come, or their content is not needed any more.
  void drop(std::uint64_t begin, std::uint64_t end);
  /// Memory was moved to a free place.
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);

  struct Part {
    std::uint64_t address = 0, origin = 0, bytes = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  /// Returns the missing parts of `bytes` from image address `origin` on.
  std::vector<Part> of(std::uint64_t origin, std::uint64_t bytes) const;

 private:
  struct Range {
    std::uint64_t end = 0, origin = 0;
  };
  using Ranges = std::map<std::uint64_t, Range>;
  Ranges::const_iterator first_behind(std::uint64_t address) const;
  void add(std::uint64_t begin, Range range);
  void remove(std::uint64_t begin);
  Ranges ranges_;                                 // by current address
  std::map<std::uint64_t, std::uint64_t> moved_;  // moved ranges: from image address to current address
};

}  // namespace perdure::process
