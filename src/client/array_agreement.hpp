#pragma once
// Ranks agree on their arrays before they are captured: that they mean the same ones, that each element has an owner,
// who stores it where it has several, where the rows of lists are, and that what several have is equal. (docs/adr/0036)
#include <optional>

#include "capture/region.hpp"
#include "client/agreement.hpp"
#include "client/shared_elements.hpp"

namespace perdure::client {

class ArrayAgreement {
 public:
  /// `most_others`: as SharedElements has it.
  explicit ArrayAgreement(std::size_t most_others = 256) : shared_(most_others) {}
  /// [local] For the opening of a call: what all ranks have to agree on.
  RegionNews news(const capture::RegionTable& regions);
  /// What the call needs beyond equal declarations and the places of lists.
  enum class For { checkpoint, restore };
  /// [collective] After that opening, with what it said. Lists get their places in `regions`, and elements that several
  /// ranks have are stored by the first of them. PERDURE_MISMATCH on all ranks with the same text: what two ranks say
  /// otherwise, the first box that no rank has or that one has twice, or what several have and is not equal. Costs
  /// nothing where nothing changed, nothing varies and nothing is shared.
  base::Status agree(comm::Communicator& comm, const RegionNews& all, For purpose, capture::RegionTable& regions);

 private:
  std::uint64_t looked_at_ = ~std::uint64_t{0};  // RegionTable::arrays_changed
  RegionNews mine_;
  std::uint64_t declared_ = 0;  // hash of what this rank says
  // The same, when all ranks found nothing wrong; nothing while what is kept of it is being replaced. 0: no arrays.
  std::optional<std::uint64_t> agreed_ = 0;
  SharedElements shared_;  // of what was agreed
};

}  // namespace perdure::client
