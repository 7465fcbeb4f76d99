#pragma once
// Orders ranges of addresses that do not overlap. The ranges that a new one overlaps are its neighbours, so no others
// are examined.
#include <concepts>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace perdure::capture {

/// `Address` needs an order only. No range is empty.
template <class Address>
class AddressOrder {
 public:
  /// Returns the id of a range that [begin, end) overlaps; that of `but` does not count.
  std::optional<std::int32_t> overlapping(const Address& begin, const Address& end, std::int32_t but) const {
    return overlapping(begin, end, [but](std::int32_t id) { return id != but; });
  }
  /// Considers only ranges whose id satisfies `counts`.
  template <class Counts>
  requires std::predicate<Counts, std::int32_t> std::optional<std::int32_t> overlapping(const Address& begin,
                                                                                        const Address& end,
                                                                                        Counts counts)
  const {
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin())
      if (const auto before = std::prev(next); begin < before->second.end && counts(before->second.id))
        return before->second.id;
    for (; next != ranges_.end() && next->first < end; ++next)  // ranges that do not count are no answers
      if (counts(next->second.id)) return next->second.id;
    return std::nullopt;
  }
  /// Adds a range, which overlaps no other.
  void add(const Address& begin, const Address& end, std::int32_t id) {
    ranges_.insert_or_assign(begin, Range{end, id});
  }
  /// Does nothing if the range that begins there has another id.
  void remove(const Address& begin, std::int32_t id) {
    const auto found = ranges_.find(begin);
    if (found != ranges_.end() && found->second.id == id) ranges_.erase(found);
  }
  /// Takes over all ranges of `others`, which overlap none of these. Needs no memory.
  void merge(AddressOrder& others) noexcept { ranges_.merge(others.ranges_); }

 private:
  struct Range {
    Address end;
    std::int32_t id;
  };
  std::map<Address, Range> ranges_;
};

}  // namespace perdure::capture
