#pragma once
// The loops that a rank has run since all ranks last agreed that they had run the same: how ranks find out which loop
// one of them has run and another has not. Pure.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "track/access.hpp"

namespace perdure::automatic {

class LoopHistory {
 public:
  /// The history knows so many loops since then one by one; of later ones it knows only that they differ.
  static constexpr std::size_t kMost = 1024;

  /// The next loop that the program comes to.
  void loop(track::LoopId id, std::string_view name);
  /// All ranks have run the same up to here.
  void agreed() { known_ = 0; }
  /// The same on two ranks where all loops so far are the same.
  std::uint64_t mark() const { return mark_; }
  /// The same where the first `loops` since they agreed are. A rank that has run fewer differs from those that ran
  /// more.
  std::uint64_t mark_after(std::size_t loops) const;
  /// The one behind so many: "'advance' (number 353)"; "" where there is none.
  std::string behind(std::size_t loops) const;
  /// The last one; "" where there was none.
  std::string last() const;

 private:
  struct Known {
    std::uint64_t mark = 0;
    std::string name;  // kept with its memory, since it is written in every loop
  };
  std::string text(std::string_view name, std::uint64_t number) const;

  std::vector<Known> first_;  // since ranks agreed; of these `known_` are of now
  std::size_t known_ = 0;
  std::uint64_t mark_ = 0, loops_ = 0, agreed_at_ = 0;
  std::string last_;
};

}  // namespace perdure::automatic
