#pragma once
// Ranges of addresses that do not overlap, in the order of their addresses: what a new one overlaps is beside it, so
// that nobody looks at the others.
#include <cstdint>
#include <map>
#include <optional>

namespace perdure::capture {

/// `Address` has an order, which is all that is asked of it. No range is empty.
template <class Address>
class AddressOrder {
 public:
  /// The id of a range that [begin, end) overlaps; that of `but` does not count.
  std::optional<std::int32_t> overlapping(const Address& begin, const Address& end, std::int32_t but) const {
    auto next = ranges_.lower_bound(begin);
    if (next != ranges_.begin())
      if (const auto before = std::prev(next); before->second.id != but && begin < before->second.end)
        return before->second.id;
    for (; next != ranges_.end() && next->first < end; ++next)  // at most one of them is not an answer
      if (next->second.id != but) return next->second.id;
    return std::nullopt;
  }
  /// It overlaps none that is there.
  void add(const Address& begin, const Address& end, std::int32_t id) {
    ranges_.insert_or_assign(begin, Range{end, id});
  }
  void remove(const Address& begin) { ranges_.erase(begin); }

 private:
  struct Range {
    Address end;
    std::int32_t id;
  };
  std::map<Address, Range> ranges_;
};

}  // namespace perdure::capture
