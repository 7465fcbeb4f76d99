#include "client/shared_elements.hpp"

#include <algorithm>

#include "base/field_codec.hpp"
#include "base/hash.hpp"
#include "client/agreement.hpp"
#include "client/told_boxes.hpp"
#include "plan/shared_sum.hpp"

namespace perdure::client {
namespace {

using capture::ArrayPart;
using Shared = ArrayPart::Shared;

base::Hash128 hash_of(const ArrayPart& part, const Shared& shared) {
  const auto lies = capture::part_of(part.memory()[shared.number], shared.box);
  base::Hasher hasher;
  (void)capture::each_run(lies, part.address(), part.element_bytes(), {0, shared.box.elements() * part.element_bytes()},
                          [&](const std::byte* address, std::uint64_t bytes) -> base::Status {
                            hasher.update({address, bytes});
                            return {};
                          });
  return hasher.digest();
}

bool in_order(const Shared& a, const Shared& b) {
  return std::tie(a.box.begin, a.box.end) < std::tie(b.box.begin, b.box.end);
}

}  // namespace

/// Hashes of the elements that a rank shares with another one, box by box.
struct SharedElements::ToldHashes {
  std::int32_t id = 0;
  std::uint64_t other = 0;
  std::vector<std::uint64_t> hashes;
  PERDURE_FIELDS(id, other, hashes)
};
struct SharedElements::ToldValues {
  std::vector<ToldHashes> pairs;
  PERDURE_FIELDS(pairs)
};

// Adds the elements that both ranks have, if there are any.
void SharedElements::add_pair(std::int32_t id, std::size_t other, const array::BoxIndex& mine,
                              const std::vector<array::Box>& boxes) {
  Pair pair{id, other, {}};
  for (const auto& box : boxes)
    mine.meeting(box, [&](std::size_t number) {
      pair.boxes.push_back({number, *array::intersection(box, mine.boxes()[number])});
    });
  std::sort(pair.boxes.begin(), pair.boxes.end(), in_order);
  if (!pair.boxes.empty()) pairs_.push_back(std::move(pair));
}

// Leaves the elements of an array that lower ranks have, too, to these. `pairs`: all of this array.
std::optional<base::Error> SharedElements::leave_to_lower(const capture::Region& region, std::span<const Pair> pairs,
                                                          std::size_t rank, capture::RegionTable& regions) {
  if (pairs.size() > most_others_)
    return base::Error{PERDURE_MISMATCH, region.text(),
                       "rank " + std::to_string(rank) + " has elements of it that " + std::to_string(pairs.size()) +
                           " other ranks have, too",
                       "declare what all ranks have as replicated, or let one rank own each element", false};
  std::vector<Shared> elsewhere;
  for (const Pair& pair : pairs)
    if (pair.other < rank) elsewhere.insert(elsewhere.end(), pair.boxes.begin(), pair.boxes.end());
  if (elsewhere.empty()) return std::nullopt;
  const std::int32_t id = pairs.front().id;
  auto left = region.part->leave(elsewhere);
  left_[id] = std::move(elsewhere);
  if (!left)
    return base::Error{PERDURE_MISMATCH, region.text(),
                       "what lower ranks do not have of rank " + std::to_string(rank) +
                           "'s boxes is too much to say: " + left.error().cause,
                       "let boxes of different ranks overlap less", false};
  regions.place(id, std::move(*left));
  return std::nullopt;
}

base::Status SharedElements::find(comm::Communicator& comm, bool any, capture::RegionTable& regions) {
  any_ = any;
  pairs_.clear();
  left_.clear();
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::pair<std::int32_t, array::BoxIndex>> mine;
  std::vector<array::Box> wholes;
  std::vector<std::byte> told;
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    std::vector<std::int32_t> left;  // elements that earlier declarations left to others
    each_global(regions, [&](std::int32_t id, const ArrayPart& part) {
      if (&part.captured() != &part.memory()) left.push_back(id);
      if (any) mine.emplace_back(id, boxes_of(part));
    });
    for (const auto id : left) {
      PERDURE_TRY(auto whole, regions.find(id)->part->leave({}));
      regions.place(id, std::move(whole));
    }
    if (!any) return {};
    wholes = wholes_of(regions);
    told = tell_boxes(regions);
    return {};
  }));
  if (!any) return {};
  const base::Status heard =
      comm::tell_all(comm, {ranks, rank}, told, [&](std::size_t from, base::ConstByteSpan bytes) {
        if (from == rank) return base::Status();
        return base::caught("arrays", [&]() -> base::Status {
          return each_told(bytes, wholes, [&](std::size_t i, const std::vector<array::Box>& boxes) {
            add_pair(mine[i].first, from, mine[i].second, boxes);
          });
        });
      });
  std::optional<base::Error> wrong;
  std::int32_t wrong_id = 0;
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    PERDURE_CHECK(heard);
    std::sort(pairs_.begin(), pairs_.end(),
              [](const Pair& a, const Pair& b) { return std::tie(a.id, a.other) < std::tie(b.id, b.other); });
    for (std::size_t i = 0, end = 0; i < pairs_.size() && !wrong; i = end) {
      wrong_id = pairs_[i].id;
      while (end < pairs_.size() && pairs_[end].id == wrong_id) ++end;
      wrong = leave_to_lower(*regions.find(wrong_id), std::span(pairs_).subspan(i, end - i), rank, regions);
    }
    return {};
  }));
  const std::uint64_t array = wrong ? static_cast<std::uint64_t>(wrong_id) : ~std::uint64_t{0};
  return first_error(comm, wrong.value_or(base::Error{}), array, rank);
}

base::Status SharedElements::leave(capture::RegionTable& regions) const {
  for (const auto& [id, elsewhere] : left_) {
    const auto& part = *regions.find(id)->part;
    if (&part.captured() != &part.memory()) continue;
    PERDURE_TRY(auto left, part.leave(elsewhere));
    regions.place(id, std::move(left));
  }
  return {};
}

// Adds up a few words of all ranks. Only if the sums differ, the ranks look for the difference.
base::Status SharedElements::compare(comm::Communicator& comm, capture::RegionTable& regions) const {
  if (!any_) return {};
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  std::vector<ToldHashes> own;
  plan::SharedSum sum;
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    PERDURE_CHECK(leave(regions));
    for (const auto& pair : pairs_) {
      ToldHashes hashes{pair.id, pair.other, {}};
      for (const auto& shared : pair.boxes) {
        const base::Hash128 hash = hash_of(*regions.find(pair.id)->part, shared);
        sum.add({pair.id, std::min(rank, pair.other), std::max(rank, pair.other), hashes.hashes.size()}, hash,
                rank < pair.other);
        hashes.hashes.push_back(hash.low);
      }
      own.push_back(std::move(hashes));
    }
    return {};
  }));
  plan::SharedSum::Words words = sum.words();
  PERDURE_CHECK(comm.allreduce(words, comm::Reduce::sum));
  return plan::SharedSum::all_equal(words) ? base::Status() : name_difference(comm, regions, std::move(own));
}

// [local] Compares a lower rank's hashes with this rank's, for the elements that they share.
base::Status SharedElements::compare_told(const ToldValues& said, std::size_t from, const std::vector<ToldHashes>& mine,
                                          Difference& first) const {
  for (const auto& theirs : said.pairs) {
    const auto own = std::find_if(mine.begin(), mine.end(),
                                  [&](const auto& one) { return one.id == theirs.id && one.other == from; });
    if (own == mine.end() || own->hashes.size() != theirs.hashes.size())
      return base::fail(PERDURE_INTERNAL, "arrays", "two ranks do not know the same of what they share");
    const auto at = std::mismatch(own->hashes.begin(), own->hashes.end(), theirs.hashes.begin()).first;
    if (at == own->hashes.end()) continue;
    const auto pair = std::find_if(pairs_.begin(), pairs_.end(),
                                   [&](const Pair& one) { return one.id == theirs.id && one.other == from; });
    const auto number = static_cast<std::size_t>(pair - pairs_.begin());
    if (number < first.pair) first = {number, static_cast<std::size_t>(at - own->hashes.begin())};
  }
  return {};
}

// The lower rank of a pair tells its hashes, the other one compares.
base::Status SharedElements::name_difference(comm::Communicator& comm, const capture::RegionTable& regions,
                                             std::vector<ToldHashes> own) const {
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::byte> told;
  std::vector<ToldHashes> mine;  // hashes of elements that lower ranks have, too
  PERDURE_CHECK(agree_after(comm, "arrays", [&]() -> base::Status {
    ToldValues values;
    for (ToldHashes& hashes : own) (hashes.other < rank ? mine : values.pairs).push_back(std::move(hashes));
    told = base::encode_fields(values);
    return {};
  }));
  Difference first;
  const base::Status heard =
      comm::tell_all(comm, {ranks, rank}, told, [&](std::size_t from, base::ConstByteSpan bytes) {
        const bool shares =
            std::any_of(mine.begin(), mine.end(), [from](const auto& one) { return one.other == from; });
        if (!shares) return base::Status();
        return base::caught("arrays", [&]() -> base::Status {
          PERDURE_TRY(auto said, base::decode_fields<ToldValues>(bytes, "arrays"));
          std::erase_if(said.pairs, [&](const ToldHashes& pair) { return pair.other != rank; });
          return compare_told(said, from, mine, first);
        });
      });
  PERDURE_CHECK(agree_after(comm, "arrays", [&] { return heard; }));
  base::Error why;
  std::uint64_t array = ~std::uint64_t{0}, other = ~std::uint64_t{0};
  if (first.pair < pairs_.size()) {
    why = difference(regions, first, rank);
    array = static_cast<std::uint64_t>(pairs_[first.pair].id);
    other = pairs_[first.pair].other;
  }
  PERDURE_CHECK(first_error(comm, why, array, other));
  return base::fail(PERDURE_MISMATCH, "arrays", "what several ranks have differs, and no rank knows where",
                    "let one rank own each element, and the others have it as a ghost");
}

base::Error SharedElements::difference(const capture::RegionTable& regions, const Difference& at,
                                       std::size_t rank) const {
  const Pair& pair = pairs_[at.pair];
  return {PERDURE_MISMATCH, regions.find(pair.id)->text(),
          "rank " + std::to_string(pair.other) + " and rank " + std::to_string(rank) + " both have " +
              pair.boxes[at.box].box.text() + ", with other values",
          "let one rank own each element, and the others have it as a ghost", false};
}

}  // namespace perdure::client
