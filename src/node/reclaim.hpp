#pragma once
// Removes residue of this user's dead engines that their stores have whole, to make room for a living engine.
#include <functional>

#include "node/store_look.hpp"

namespace perdure::node {

struct Reclaim {
  std::string own;             ///< the directory of the engine that asks, which is left alone
  JobNote job;                 ///< its job: directories that it may restore from are left alone, too
  OpenStore open;              ///< opens the stores of others
  std::function<bool()> stop;  ///< called before each directory; true: look no further
};

struct Reclaimed {
  struct Kept {
    Left left;
    Judgement judgement;
  };
  std::vector<Left> given_up;
  std::vector<Kept> kept;  ///< dead, of other jobs, and not known to be in the store
  std::vector<base::Error> failures;
  std::uint64_t bytes() const;  ///< of the removed residue
  /// Lists the versions that the stores lack, with jobs, stores and names, for the error of a lack of room. Empty:
  /// none.
  std::string lacking_text() const;
};

/// Pure: whether it may be reclaimed at all. Directories of live engines, its own, and those of its job never are.
bool may_be_reclaimed(const Left& left, const Reclaim& reclaim);
Reclaimed reclaim(const config::Config& config, const Reclaim& reclaim);

}  // namespace perdure::node
