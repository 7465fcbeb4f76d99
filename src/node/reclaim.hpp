#pragma once
// Gives up what dead engines of this user left and their stores have whole, to make room for a living engine.
#include <functional>

#include "node/store_look.hpp"

namespace perdure::node {

struct Reclaim {
  std::string own;             ///< the directory of the engine that asks, which is left alone
  JobNote job;                 ///< its job: what that may be restored from is left alone, too
  OpenStore open;              ///< opens the stores of others
  std::function<bool()> stop;  ///< asked before each directory; true: look no further
};

struct Reclaimed {
  struct Kept {
    Left left;
    Judgement judgement;
  };
  std::vector<Left> given_up;
  std::vector<Kept> kept;  ///< dead, of other jobs, and not known to be in the store
  std::vector<base::Error> failures;
  std::uint64_t bytes() const;  ///< of what was given up
  /// What the stores lack, for whoever finds no room: with jobs, stores, names and versions. Empty: nothing.
  std::string lacking_text() const;
};

/// Pure: whether it may be given up at all. `alive`, its own, and those of its job never are.
bool may_be_reclaimed(const Left& left, const Reclaim& reclaim);
Reclaimed reclaim(const config::Config& config, const Reclaim& reclaim);

}  // namespace perdure::node
