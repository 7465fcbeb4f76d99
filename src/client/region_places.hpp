#pragma once
// Keeps where the protected regions and threads of a rank are on its machine. Each checkpoint notes it, and a restore
// brings them back (affinity/rank_places.hpp). Data are worth more than places: a failure here only loses a place.
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
  /// Gives the calling thread this number. PERDURE_INVALID_ARGUMENT: it is negative, or there are too many.
  base::Status name_thread(std::int32_t id);
  /// Adds attributes to the entries of a capture of `table`.
  void note(const capture::RegionTable& table, std::vector<segment::RegionEntry>& entries);
  /// Gives threads their masks, and places regions' pages that are not backed yet on the nodes that `stored` names.
  /// `to` has for each entry the region that it fills, or capture::kNoRegion.
  void bring_back(const capture::RegionTable& table, const std::vector<segment::RegionEntry>& stored,
                  const std::vector<std::int32_t>& to);

 private:
  bool of_pages() const { return mode_ == "keep" || mode_ == "pages"; }
  bool of_threads() const { return mode_ == "keep" || mode_ == "cores"; }
  void set_masks(const affinity::PlacesHere& places);

  std::string mode_;                     // value of the option `affinity`
  bool moves_ = false;                   // value of the option `restore.move_pages`
  std::map<std::int32_t, int> threads_;  // the kernel's thread number, by the program's
};

/// A source of the protected regions that adds their places.
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
