#include "client/array_agreement.hpp"

#include <algorithm>
#include <utility>

#include "array/cover.hpp"
#include "array/distribution.hpp"
#include "base/field_codec.hpp"
#include "client/exchanges.hpp"
#include "client/first_error.hpp"

namespace perdure::client {
namespace {

/// What a rank says of its arrays; never without bytes.
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

std::string ranks_text(std::size_t first, std::size_t second) {
  return "rank " + std::to_string(first) + " and rank " + std::to_string(second);
}

constexpr std::size_t kMostOverlaps = 1U << 16;  // in one rank's share

/// Of all ranks, as they come in: what rank 0 says, the first contradiction, and whose boxes touch this rank's share.
class Declared {
 public:
  Declared(std::uint64_t rank, std::uint64_t ranks, bool covers) : rank_(rank), ranks_(ranks), covers_(covers) {}

  base::Status add(std::size_t from, base::ConstByteSpan bytes) {
    if (contradiction_) return {};  // all ranks hear all of it, in the same order
    PERDURE_TRY(const auto said, base::decode_fields<Declarations>(bytes, "declarations"));
    std::vector<segment::ArrayEntry> arrays;
    for (const auto& entry : said.entries) {
      PERDURE_TRY(auto array, segment::array_of(entry, "declarations"));
      arrays.push_back(std::move(array));
    }
    if (from == 0)
      for (std::size_t i = 0; i < arrays.size(); ++i) begin(said.entries[i].id, arrays[i]);
    if (said.entries.size() != ids_.size()) {
      contradiction_ = missing(from, said);
      return {};
    }
    for (std::size_t i = 0; i < arrays.size() && !contradiction_; ++i) {
      if (said.entries[i].id != ids_[i])
        contradiction_ = missing(from, said);
      else if (auto why = differs(first_[i], arrays[i]))
        contradiction_ = wrong(i, ranks_text(0, from) + " " + *why);
      else
        keep(i, from, arrays[i].boxes);
    }
    return {};
  }

  const std::optional<base::Error>& contradiction() const { return contradiction_; }

  /// The first thing wrong in this rank's share: which array, and the number of its first element there.
  struct Fault {
    std::uint64_t array = ~std::uint64_t{0}, element = ~std::uint64_t{0};
    base::Error why;
  };
  /// `shares`: set where two ranks have the same element, which is nothing wrong.
  Fault first_fault(bool& shares) const {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (first_[i].kind != segment::ArrayKind::global || shares_[i].empty()) continue;
      const auto found = array::cover(shares_[i], owned_[i], kMostOverlaps);
      const auto fault = [&](const array::Box& where, const std::string& cause, const std::string& remedy) {
        return Fault{i, number_in(first_[i].whole, where.begin), wrong(i, cause, remedy)};
      };
      for (const auto& overlap : found.overlaps)
        if (overlap.first == overlap.second)
          return fault(overlap.box, "rank " + std::to_string(overlap.first) + " has it twice: " + overlap.box.text(),
                       "let boxes of one rank not overlap");
      if (found.hole)
        return fault(*found.hole, "no rank has " + found.hole->text() + " of the array " + first_[i].whole.text(),
                     "let each element have an owner");
      if (!found.all_overlaps)
        return fault(found.overlaps.back().box, "ranks have it together in too many pieces",
                     "declare what all ranks have as replicated, or let one rank own each element");
      shares = shares || !found.overlaps.empty();
    }
    return {};
  }

 private:
  void begin(std::int32_t id, const segment::ArrayEntry& array) {
    ids_.push_back(id);
    first_.push_back(array);
    owned_.emplace_back();
    array::Box share = array.whole;
    if (share.empty() || (share.dimensions == 0 && rank_ != 0))
      share = {1, {}, {}};  // nothing
    else if (share.dimensions > 0)
      share = array::block(array.whole, array::even_grid(array.whole, ranks_), rank_);
    shares_.push_back(share);
  }
  void keep(std::size_t array, std::size_t from, const std::vector<array::Box>& boxes) {
    if (!covers_ || shares_[array].empty() || first_[array].kind != segment::ArrayKind::global) return;
    for (const auto& box : boxes)
      if (auto part = array::intersection(box, shares_[array]))
        owned_[array].push_back({*part, static_cast<std::uint32_t>(from)});
  }
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
  base::Error wrong(std::size_t array, const std::string& cause, const std::string& remedy = "") const {
    return {PERDURE_MISMATCH, segment::region_text(ids_[array], first_[array].label), cause,
            remedy.empty() ? "declare it the same way on all ranks" : remedy, false};
  }
  // One of them does not have what the other has.
  base::Error missing(std::size_t from, const Declarations& said) const {
    std::size_t i = 0;
    while (i < ids_.size() && i < said.entries.size() && ids_[i] == said.entries[i].id) ++i;
    const bool by_first = i == ids_.size() || (i < said.entries.size() && said.entries[i].id < ids_[i]);
    const std::string region =
        by_first ? segment::region_text(said.entries[i]) : segment::region_text(ids_[i], first_[i].label);
    return {PERDURE_MISMATCH, region,
            "rank " + std::to_string(by_first ? from : 0) + " has declared it as a part of an array, rank " +
                std::to_string(by_first ? 0 : from) + " has not",
            "declare it on all ranks, without boxes where a rank has none of it", false};
  }
  static std::uint64_t number_in(const array::Box& whole, const array::Index& index) {
    std::uint64_t number = 0;  // the product of extents is below 2^63
    for (unsigned d = 0; d < whole.dimensions; ++d) number = number * whole.extent(d) + index[d];
    return number;
  }

  std::uint64_t rank_, ranks_;
  bool covers_;
  std::vector<std::int32_t> ids_;
  std::vector<segment::ArrayEntry> first_;  // what rank 0 says
  std::vector<array::Box> shares_;          // that this rank looks at
  std::vector<std::vector<array::Owned>> owned_;
  std::optional<base::Error> contradiction_;
};

// `shares` is set on the ranks in whose share an element has two owners.
base::Status agree_on_declarations(comm::Communicator& comm, const capture::RegionTable& regions, bool covers,
                                   bool& shares) {
  std::vector<std::byte> mine;
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    mine = base::encode_fields(declarations_of(regions));
    return {};
  }));
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  Declared declared(rank, ranks, covers);
  const base::Status heard =
      comm::tell_all(comm, {ranks, rank}, mine, [&](std::size_t from, base::ConstByteSpan bytes) {
        return base::caught("arrays", [&] { return declared.add(from, bytes); });
      });
  Declared::Fault fault;
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    if (covers && !declared.contradiction()) fault = declared.first_fault(shares);
    return {};
  }));
  if (declared.contradiction()) return base::fail(*declared.contradiction());
  return covers ? first_error(comm, fault.why, fault.array, fault.element) : base::Status();
}

// The rows of lists follow each other in the order of the ranks.
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

// All ranks compare with rank 0.
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
    PERDURE_CHECK(agree_on_declarations(comm, regions, purpose == For::checkpoint, shares));
    if (purpose == For::checkpoint) {
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
