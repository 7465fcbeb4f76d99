#pragma once
// Copies, stages and commits within the call of a checkpoint.
#include "client/region_places.hpp"
#include "client/write/protocol.hpp"

namespace perdure::client {

class DirectWrite : public Protocol {
 public:
  /// Writes the data of `source`, or the protected regions if it is null.
  DirectWrite(Job& job, const capture::RegionTable& regions, RegionPlaces& places, capture::Source* source)
      : job_(job), regions_(regions), places_(places), source_(source) {}
  base::Status write(const segment::VersionId& id, const Opened& opened) override;
  std::optional<std::uint64_t> bytes() const override { return bytes_; }

 private:
  Job& job_;
  const capture::RegionTable& regions_;
  RegionPlaces& places_;
  capture::Source* source_;
  std::optional<std::uint64_t> bytes_;
};

}  // namespace perdure::client
