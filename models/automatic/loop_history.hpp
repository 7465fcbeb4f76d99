#pragma once
// Records the loops that a rank has run since all ranks last agreed that they had run the same ones. With it ranks find
// the first loop at which they differ. Pure.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "track/access.hpp"

namespace perdure::automatic {

class LoopHistory {
 public:
  /// The history keeps this many loops one by one; of later ones it only knows whether they differ.
  static constexpr std::size_t kMost = 1024;

  /// Records the next loop of the program.
  void loop(track::LoopId id, std::string_view name);
  /// Notes that all ranks have run the same loops up to here.
  void agreed() { known_ = 0; }
  /// Returns a hash that is equal on two ranks if all loops so far are equal.
  std::uint64_t mark() const { return mark_; }
  /// Returns the same hash for the first `loops` loops since the agreement. The result of a rank that has run fewer
  /// differs from those that ran more.
  std::uint64_t mark_after(std::size_t loops) const;
  /// Describes the loop that follows the first `loops`: "'advance' (number 353)"; "" if there is none.
  std::string behind(std::size_t loops) const;
  /// Describes the last loop; "" if there is none.
  std::string last() const;

 private:
  struct Known {
    std::uint64_t mark = 0;
    std::string name;  // keeps its buffer, because every loop writes it
  };
  std::string text(std::string_view name, std::uint64_t number) const;

  std::vector<Known> first_;  // since ranks agreed; the first `known_` are valid
  std::size_t known_ = 0;
  std::uint64_t mark_ = 0, loops_ = 0, agreed_at_ = 0;
  std::string last_;
};

}  // namespace perdure::automatic
