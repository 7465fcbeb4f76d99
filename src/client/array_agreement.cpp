#include "client/array_agreement.hpp"

#include <algorithm>
#include <utility>

#include "array/cover.hpp"
#include "array/distribution.hpp"
#include "base/field_codec.hpp"
#include "client/agreement.hpp"
#include "client/exchanges.hpp"
#include "client/told_boxes.hpp"

namespace perdure::client {
namespace {

/// A rank's declarations of its arrays.
struct Declarations {
  std::vector<segment::RegionEntry> entries;
  PERDURE_FIELDS(entries)
};

Declarations declarations_of(const capture::RegionTable& regions) {
  Declarations mine;
  for (const auto& [id, region] : regions.regions())
    if (region.part) mine.entries.push_back(region.part->declaration());
  return mine;
}

/// The parts of an array that all ranks have to declare alike: without boxes, and a list without rows.
struct Declared {
  std::int32_t id = 0;
  segment::ArrayEntry array;
};

std::vector<Declared> declared_here(const capture::RegionTable& regions) {
  std::vector<Declared> declared;
  for (const auto& [id, region] : regions.regions()) {
    if (!region.part) continue;
    const auto& array = region.part->array();
    Declared one{id, {array.label, array.type, array.kind, array.whole, {}}};
    if (one.array.kind == segment::ArrayKind::list) one.array.whole.end[0] = 0;
    declared.push_back(std::move(one));
  }
  return declared;
}

std::string ranks_text(std::size_t first, std::size_t second) {
  return "rank " + std::to_string(first) + " and rank " + std::to_string(second);
}

base::Error wrong(std::int32_t id, const segment::Label& label, const std::string& cause, const std::string& remedy) {
  return {PERDURE_MISMATCH, segment::region_text(id, label), cause, remedy, false};
}

/// Finds the first declaration of a rank that differs from rank 0's. Ranks compare with rank 0 only, so that one of
/// them tells the others.
class Comparison {
 public:
  Comparison(std::size_t rank, const std::vector<Declared>& first, const std::vector<Declared>& mine)
      : rank_(rank), first_(first), mine_(mine) {}

  std::optional<base::Error> contradiction() const {
    for (std::size_t i = 0; i < std::max(first_.size(), mine_.size()); ++i) {
      if (i >= first_.size() || i >= mine_.size() || first_[i].id != mine_[i].id) return missing(i);
      if (const auto why = differs(first_[i].array, mine_[i].array))
        return wrong(first_[i].id, first_[i].array.label, ranks_text(0, rank_) + " " + *why,
                     "declare it the same way on all ranks");
    }
    return std::nullopt;
  }

 private:
  static std::optional<std::string> differs(const segment::ArrayEntry& a, const segment::ArrayEntry& b) {
    const auto says = [](const std::string& what, const std::string& one, const std::string& other) {
      return "say otherwise of its " + what + ": '" + one + "' and '" + other + "'";
    };
    const auto number = [](segment::ArrayKind kind) { return std::to_string(static_cast<std::uint32_t>(kind)); };
    if (a.type != b.type) return says("element type", a.type.text(), b.type.text());
    if (a.whole != b.whole) return says("extents", a.whole.text(), b.whole.text());
    if (a.kind != b.kind) return says("kind", number(a.kind), number(b.kind));
    if (a.label.name != b.label.name) return says("name", a.label.name, b.label.name);
    if (a.label.unit != b.label.unit) return says("unit", a.label.unit, b.label.unit);
    return std::nullopt;
  }
  // One of the two ranks has no array here; the other has one.
  base::Error missing(std::size_t i) const {
    const bool by_this = i >= first_.size() || (i < mine_.size() && mine_[i].id < first_[i].id);
    const std::size_t has = by_this ? rank_ : 0, has_not = by_this ? 0 : rank_;
    const Declared& one = by_this ? mine_[i] : first_[i];
    return wrong(one.id, one.array.label,
                 "rank " + std::to_string(has) + " has declared it as a part of an array, rank " +
                     std::to_string(has_not) + " has not",
                 "declare it on all ranks, without boxes where a rank has none of it");
  }

  std::size_t rank_;
  const std::vector<Declared>&first_, &mine_;
};

// [collective] PERDURE_MISMATCH on all ranks, naming the lowest rank that declares otherwise than rank 0. If all
// declare alike, it costs one exchange more than the broadcast of rank 0.
base::Status agree_on_arrays(comm::Communicator& comm, const capture::RegionTable& regions) {
  const std::vector<Declared> mine = declared_here(regions);
  std::vector<std::byte> told;
  const base::Status made = base::caught("arrays", [&]() -> base::Status {
    if (comm.rank() != 0) return {};
    Declarations first;
    for (const auto& [id, array] : mine) {
      PERDURE_TRY(auto entry, segment::entry_of(id, array));
      first.entries.push_back(std::move(entry));
    }
    told = base::encode_fields(first);
    return {};
  });
  PERDURE_TRY(const auto heard, comm::broadcast_bytes(comm, told, 0));
  std::optional<base::Error> why;
  const auto rank = static_cast<std::size_t>(comm.rank());
  const base::Status compared = base::caught("arrays", [&]() -> base::Status {
    PERDURE_CHECK(made);
    if (rank == 0) return {};
    PERDURE_TRY(const auto said, base::decode_fields<Declarations>(heard, "declarations"));
    std::vector<Declared> first;
    for (const auto& entry : said.entries) {
      PERDURE_TRY(auto array, segment::array_of(entry, "declarations"));
      first.push_back({entry.id, std::move(array)});
    }
    why = Comparison(rank, first, mine).contradiction();
    return {};
  });
  PERDURE_TRY(const bool same, agree_on(comm, compared, !why));
  return same ? base::Status() : first_error(comm, why.value_or(base::Error{}), why ? rank : ~std::uint64_t{0}, 0);
}

constexpr std::size_t kMostOverlaps = 1U << 16;  // overlaps in one rank's share

/// Checks that each element of each array has one owner; each rank looks at its share of the array.
class Shares {
 public:
  Shares(std::uint64_t rank, std::uint64_t ranks, const capture::RegionTable& regions) : wholes_(wholes_of(regions)) {
    each_global(regions, [&](std::int32_t id, const capture::ArrayPart& part) {
      shares_.push_back({id, part.array().label, share(part.array().whole, rank, ranks), {}});
    });
  }
  bool any() const { return !shares_.empty(); }

  base::Status add(std::size_t from, base::ConstByteSpan bytes) {
    return each_told(bytes, wholes_, [&](std::size_t i, const std::vector<array::Box>& boxes) {
      if (shares_[i].box.empty()) return;
      for (const auto& box : boxes)
        if (auto part = array::intersection(box, shares_[i].box))
          shares_[i].owned.push_back({*part, static_cast<std::uint32_t>(from)});
    });
  }

  /// The first fault in this rank's share: its array, and the number of its first element there.
  struct Fault {
    std::uint64_t array = ~std::uint64_t{0}, element = ~std::uint64_t{0};
    base::Error why;
  };
  /// Sets `shares` if two ranks have the same element, which is no fault.
  Fault first_fault(bool& shares) const {
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const Share& share = shares_[i];
      if (share.box.empty()) continue;
      const auto found = array::cover(share.box, share.owned, kMostOverlaps);
      const auto& whole = wholes_[i];
      const auto fault = [&](const array::Box& where, const std::string& cause, const std::string& remedy) {
        return Fault{i, number_in(whole, where.begin), wrong(share.id, share.label, cause, remedy)};
      };
      for (const auto& overlap : found.overlaps)
        if (overlap.first == overlap.second)
          return fault(overlap.box, "rank " + std::to_string(overlap.first) + " has it twice: " + overlap.box.text(),
                       "let boxes of one rank not overlap");
      if (found.hole)
        return fault(*found.hole, "no rank has " + found.hole->text() + " of the array " + whole.text(),
                     "let each element have an owner");
      if (!found.all_overlaps)
        return fault(found.overlaps.back().box, "ranks have it together in too many pieces",
                     "declare what all ranks have as replicated, or let one rank own each element");
      shares = shares || !found.overlaps.empty();
    }
    return {};
  }

 private:
  struct Share {
    std::int32_t id = 0;
    segment::Label label;
    array::Box box;
    std::vector<array::Owned> owned;
  };
  static array::Box share(const array::Box& whole, std::uint64_t rank, std::uint64_t ranks) {
    if (whole.empty() || (whole.dimensions == 0 && rank != 0)) return {1, {}, {}};  // an empty share
    return whole.dimensions == 0 ? whole : array::block(whole, array::even_grid(whole, ranks), rank);
  }
  static std::uint64_t number_in(const array::Box& whole, const array::Index& index) {
    std::uint64_t number = 0;  // the product of extents is below 2^63
    for (unsigned d = 0; d < whole.dimensions; ++d) number = number * whole.extent(d) + index[d];
    return number;
  }

  std::vector<array::Box> wholes_;
  std::vector<Share> shares_;  // shares of the global arrays
};

// [collective] Comes after agree_on_arrays(). Sets `shares` on the ranks in whose share an element has two owners.
base::Status agree_on_owners(comm::Communicator& comm, const capture::RegionTable& regions, bool& shares) {
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  Shares all(rank, ranks, regions);
  if (!all.any()) return {};
  const base::Status heard =
      comm::tell_all(comm, {ranks, rank}, tell_boxes(regions), [&](std::size_t from, base::ConstByteSpan bytes) {
        return base::caught("arrays", [&] { return all.add(from, bytes); });
      });
  Shares::Fault fault;
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    fault = all.first_fault(shares);
    return {};
  }));
  return first_error(comm, fault.why, fault.array, fault.element);
}

// Gives lists their places: their rows follow each other in the order of the ranks.
base::Status place_lists(comm::Communicator& comm, capture::RegionTable& regions) {
  std::vector<std::int32_t> lists;
  std::vector<std::uint64_t> mine;
  for (const auto& [id, region] : regions.regions())
    if (region.part && region.part->array().kind == segment::ArrayKind::list) {
      lists.push_back(id);
      mine.push_back(region.part->rows());
    }
  if (lists.empty()) return {};
  std::vector<std::uint64_t> all(lists.size() * static_cast<std::size_t>(comm.size()));
  PERDURE_CHECK(comm.allgather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))));
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::uint64_t first = 0, total = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(comm.size()); ++r) {
      if (r == static_cast<std::size_t>(comm.rank())) first = total;
      if (__builtin_add_overflow(total, all[r * lists.size() + i], &total)) total = ~std::uint64_t{0} >> 1;
    }
    PERDURE_TRY(auto placed, regions.find(lists[i])->part->place(first, total));
    regions.place(lists[i], std::move(placed));
  }
  return {};
}

// Compares replicated arrays: all ranks compare with rank 0.
base::Status compare_replicated(comm::Communicator& comm, const capture::RegionTable& regions) {
  std::vector<const capture::Region*> replicated;
  std::vector<std::uint64_t> mine;
  for (const auto& [id, region] : regions.regions())
    if (region.part && region.part->array().kind == segment::ArrayKind::replicated) {
      replicated.push_back(&region);
      mine.push_back(base::hash64({region.part->address(), region.part->dense_bytes()}));
    }
  if (mine.empty()) return {};
  std::vector<std::uint64_t> first = mine;
  PERDURE_CHECK(comm.broadcast(std::as_writable_bytes(std::span(first)), 0));
  const auto differs = std::mismatch(mine.begin(), mine.end(), first.begin()).first;
  const auto which = static_cast<std::size_t>(differs - mine.begin());
  base::Error why{PERDURE_MISMATCH, "", "",
                  "make them equal before the checkpoint, or protect them as memory of each rank", false};
  if (differs != mine.end()) {
    why.object = replicated[which]->text();
    why.cause = "it is declared as replicated, but " + ranks_text(0, static_cast<std::size_t>(comm.rank())) +
                " have other values in it";
  }
  return first_error(comm, why, differs == mine.end() ? ~std::uint64_t{0} : which, 0);
}

}  // namespace

RegionNews ArrayAgreement::news(const capture::RegionTable& regions) {
  if (looked_at_ == regions.arrays_changed()) {
    mine_.declared.changed = declared_ != agreed_;
    return mine_;
  }
  mine_ = {};
  for (const auto& [id, region] : regions.regions()) {
    if (!region.part) continue;
    mine_.arrays = true;
    mine_.declared.varying = mine_.declared.varying || region.part->array().kind != segment::ArrayKind::global;
  }
  declared_ = mine_.arrays ? base::hash64(base::encode_fields(declarations_of(regions))) : 0;
  looked_at_ = regions.arrays_changed();
  mine_.declared.changed = declared_ != agreed_;
  return mine_;
}

base::Status ArrayAgreement::agree(comm::Communicator& comm, const RegionNews& all, For purpose,
                                   capture::RegionTable& regions) {
  if (all.declared.changed) {
    bool shares = false;
    PERDURE_CHECK(agree_on_arrays(comm, regions));
    if (purpose == For::checkpoint) {
      PERDURE_CHECK(agree_on_owners(comm, regions, shares));
      PERDURE_TRY(const bool any, on_any_rank(comm, shares));
      agreed_.reset();
      PERDURE_CHECK(shared_.find(comm, any, regions));
      agreed_ = declared_;
    }
  }
  if (purpose == For::checkpoint) PERDURE_CHECK(shared_.compare(comm, regions));
  if (!all.declared.varying) return {};
  PERDURE_CHECK(place_lists(comm, regions));
  return purpose == For::checkpoint ? compare_replicated(comm, regions) : base::Status();
}

}  // namespace perdure::client
