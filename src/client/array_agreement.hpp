#pragma once
// Ranks agree on their arrays before a capture. They must mean the same arrays, and each element must have an owner. If
// it has several, they agree on the rank that stores it, and their values must be equal. They also agree on where the
// rows of lists are. (docs/adr/0036)
#include <optional>

#include "capture/region.hpp"
#include "client/agreement.hpp"
#include "client/shared_elements.hpp"

namespace perdure::client {

class ArrayAgreement {
 public:
  /// `most_others`: as SharedElements has it.
  explicit ArrayAgreement(std::size_t most_others = 256) : shared_(most_others) {}
  /// [local] Gives the facts about arrays that the opening of a call needs.
  RegionNews news(const capture::RegionTable& regions);
  /// The purpose of the call: a checkpoint checks more than equal declarations and the places of lists.
  enum class For { checkpoint, restore };
  /// [collective] Agrees after that opening, with its result `all`. Lists get their places in `regions`. The first of
  /// several owners stores an element. PERDURE_MISMATCH on all ranks with the same text. The causes are contradicting
  /// declarations, a box that no rank has or that one has twice, and shared elements that are not equal. Costs nothing
  /// if nothing changed, nothing varies and nothing is shared.
  base::Status agree(comm::Communicator& comm, const RegionNews& all, For purpose, capture::RegionTable& regions);

 private:
  std::uint64_t looked_at_ = ~std::uint64_t{0};  // RegionTable::arrays_changed
  RegionNews mine_;
  std::uint64_t declared_ = 0;  // hash of this rank's declarations
  // The same hash, once all ranks found them good. Empty while the agreement is being replaced. 0: no arrays.
  std::optional<std::uint64_t> agreed_ = 0;
  SharedElements shared_;  // elements of the agreed arrays that several ranks have
};

}  // namespace perdure::client
