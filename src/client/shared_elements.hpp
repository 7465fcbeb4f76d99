#pragma once
// Finds elements of arrays that several ranks have: the first of these ranks stores them. All must have the same
// values, bit for bit. (docs/adr/0036)
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "array/box_index.hpp"
#include "capture/region.hpp"
#include "comm/communicator.hpp"

namespace perdure::client {

class SharedElements {
 public:
  /// A rank that shares an array with more others than `most_others` should declare it replicated.
  explicit SharedElements(std::size_t most_others = 256) : most_others_(most_others) {}
  /// [collective] Finds the shared elements, after the declarations were found to be good. `any`, the same on all
  /// ranks: some element has several owners. The parts in `regions` leave to others the elements that those store.
  /// PERDURE_MISMATCH on all ranks: a rank shares elements with too many others.
  base::Status find(comm::Communicator& comm, bool any, capture::RegionTable& regions);
  /// [collective] Compares the values; call it before every capture. PERDURE_MISMATCH on all ranks, with the same text:
  /// two ranks have different values. Each rank tells plan::SharedSum::kWords words, however many ranks there are;
  /// after a difference, its hashes, too. Parts declared once more with the same boxes, in other memory, leave the same
  /// elements to others again. Costs nothing if nothing is shared.
  base::Status compare(comm::Communicator& comm, capture::RegionTable& regions) const;

 private:
  /// The elements of an array that this rank and another one share, in an order that both know.
  struct Pair {
    std::int32_t id = 0;
    std::size_t other = 0;
    std::vector<capture::ArrayPart::Shared> boxes;  // and the boxes of this rank that contain them
  };
  struct ToldHashes;
  struct ToldValues;
  void add_pair(std::int32_t id, std::size_t other, const array::BoxIndex& mine, const std::vector<array::Box>& boxes);
  std::optional<base::Error> leave_to_lower(const capture::Region& region, std::span<const Pair> pairs,
                                            std::size_t rank, capture::RegionTable& regions);
  base::Status leave(capture::RegionTable& regions) const;
  struct Difference {  // the first difference that this rank knows of
    std::size_t pair = ~std::size_t{0}, box = 0;
  };
  base::Status compare_told(const ToldValues& said, std::size_t from, const std::vector<ToldHashes>& mine,
                            Difference& first) const;
  base::Error difference(const capture::RegionTable& regions, const Difference& at, std::size_t rank) const;
  base::Status name_difference(comm::Communicator& comm, const capture::RegionTable& regions,
                               std::vector<ToldHashes> own) const;

  std::size_t most_others_;
  bool any_ = false;
  std::vector<Pair> pairs_;                                               // ascending by id, then by the other rank
  std::map<std::int32_t, std::vector<capture::ArrayPart::Shared>> left_;  // elements left to lower ranks, by id
};

}  // namespace perdure::client
