#pragma once
// Which pages of a process in which memory have not come yet, and where each of them is by now: the process runs, drops
// memory and moves it. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "process/image.hpp"

namespace perdure::process {

class MissingPages {
 public:
  /// At the addresses that they have in the image.
  explicit MissingPages(const std::vector<PageRun>& runs);
  bool empty() const { return ranges_.empty(); }
  /// Of a missing page: the address that it has in the image.
  std::optional<std::uint64_t> origin_of(std::uint64_t address) const;
  /// They are there, or nobody wants their content any more.
  void drop(std::uint64_t begin, std::uint64_t end);
  /// Memory went to another place, where nothing was any more.
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t bytes);

  struct Part {
    std::uint64_t address = 0, origin = 0, bytes = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  /// What is missing of `bytes` from `origin` on in the image.
  std::vector<Part> of(std::uint64_t origin, std::uint64_t bytes) const;

 private:
  struct Range {
    std::uint64_t end = 0, origin = 0;
  };
  using Ranges = std::map<std::uint64_t, Range>;
  Ranges::const_iterator first_behind(std::uint64_t address) const;
  void add(std::uint64_t begin, Range range);
  void remove(std::uint64_t begin);
  Ranges ranges_;                                 // by where they are
  std::map<std::uint64_t, std::uint64_t> moved_;  // those that are elsewhere: by origin, where
};

}  // namespace perdure::process
