#pragma once
// Lays out, writes and publishes the segments of one version.
#include <memory>
#include <vector>

#include "catalog/state.hpp"
#include "segment/manifest.hpp"
#include "store/store.hpp"

namespace perdure::engine {

/// A chunk on its way to its place in a segment.
struct FlushItem {
  std::size_t segment = 0;  ///< index in the open segments
  std::uint32_t rank = 0;
  std::uint32_t chunk = 0;
  std::uint64_t target = 0;    ///< offset in the segment
  segment::ChunkEntry source;  ///< as in the catalog; place kNotWritten: the rank has not written it yet
};

class OpenSegments {
 public:
  /// Lays out `segments` of the version, with the lengths of its chunks.
  OpenSegments(const catalog::HeldVersion& version, const std::vector<catalog::LocalSegment>& segments);
  /// In the order of the segments.
  std::vector<FlushItem>& items() { return items_; }
  /// Begins every segment, or resumes it if one of its chunks is in the temporary segment only.
  base::Status open(store::Store& store);
  store::SegmentSink& sink(const FlushItem& item) { return *open_[item.segment].sink; }
  /// Publishes the segments one after the other and calls `stored` after each. Adds their sizes to `bytes`.
  base::Status publish(std::uint64_t& bytes, const std::function<base::Status(std::uint32_t)>& stored);
  /// Says whether unpublished segments outlive this object.
  void keep(bool kept);

 private:
  struct Open {
    segment::Manifest manifest;
    std::uint64_t tail_offset = 0;
    bool resumed = false;
    std::unique_ptr<store::SegmentSink> sink = {};
  };
  base::Status open_one(store::Store& store, Open& segment);
  void fill_in(Open& segment, std::size_t number) const;

  std::vector<Open> open_;
  std::vector<FlushItem> items_;
};

}  // namespace perdure::engine
