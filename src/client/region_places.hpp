#pragma once
// Protected regions and threads of a rank, and where they are on its machine: noted with each checkpoint, and brought
// back by a restore (affinity/rank_places.hpp). A place is worth something and data are more: whatever fails here costs
// a place.
#include <map>
#include <string>
#include <vector>

#include "affinity/rank_places.hpp"
#include "base/result.hpp"
#include "capture/memory.hpp"
#include "config/config.hpp"

namespace perdure::client {

class RegionPlaces {
 public:
  explicit RegionPlaces(const config::Config& config);
  /// The calling thread has this number from now on. PERDURE_INVALID_ARGUMENT: it is negative, or there are too many.
  base::Status name_thread(std::int32_t id);
  /// Attributes for the entries of a capture of `table`.
  void note(const capture::RegionTable& table, std::vector<segment::RegionEntry>& entries);
  /// Threads get their masks, and regions the pages that they do not have yet, where those were that `stored` tells of.
  /// `to` has for each entry the region that it fills, or capture::kNoRegion.
  void bring_back(const capture::RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                  const std::vector<std::int32_t>& to);

 private:
  bool of_pages() const { return mode_ == "keep" || mode_ == "pages"; }
  bool of_threads() const { return mode_ == "keep" || mode_ == "cores"; }
  void set_masks(const affinity::PlacesHere& places);

  std::string mode_;                     // the option `affinity`
  bool moves_ = false;                   // the option `restore.move_pages`
  std::map<std::int32_t, int> threads_;  // the kernel's number, by the program's
};

/// The protected regions, with where they are.
class PlacedSource : public capture::MemorySource {
 public:
  PlacedSource(const capture::RegionTable& table, RegionPlaces& places)
      : MemorySource(table), regions_(table), places_(places) {}
  base::Result<capture::Description> describe() override;

 private:
  const capture::RegionTable& regions_;
  RegionPlaces& places_;
};

}  // namespace perdure::client
