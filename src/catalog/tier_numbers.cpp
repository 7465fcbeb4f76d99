#include "catalog/tier_numbers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace perdure::catalog {
namespace {

// Places above all numbers have other meanings.
bool is_number(std::uint32_t place) { return place < kUnreachableTier; }

using Users = std::map<std::uint32_t, std::set<segment::VersionId>>;

/// Owners of the chunks and blocks on each tier that is in use.
Users users_of(const State& log) {
  Users users;
  for (const auto& [id, held] : log.versions)
    for (const auto& [rank, piece] : held.pieces)
      for (const auto& chunk : piece.chunks)
        if (is_number(chunk.place)) users[chunk.place].insert(id);
  for (const auto& [id, redundancy_set] : log.redundancy_sets)
    for (const auto& [block, chunk] : redundancy_set.kept)
      if (is_number(chunk.place)) users[chunk.place].insert(id.version);
  return users;
}

bool is_same(const TierRecord& known, const OpenedTier& opened) {
  return known.incarnation != 0 && known.incarnation == opened.incarnation && known.name == opened.name;
}

// The directory is the same one, and its content is not: that cannot come back. The content may come back if a
// directory was made anew, or another file system was mounted over it.
bool took_its_place(const TierRecord& known, const OpenedTier& opened) {
  return known.incarnation != 0 && known.incarnation != opened.incarnation && known.name == opened.name &&
         !known.place.directory.empty() && known.place.directory == opened.place.directory &&
         known.place.device == opened.place.device && known.place.inode == opened.place.inode;
}

bool lost_at_boot(const TierRecord& known, std::uint64_t boot) {
  return known.incarnation != 0 && known.place.boot != 0 && boot != 0 && known.place.boot != boot;
}

class Numbering {
 public:
  Numbering(const State& log, const std::vector<OpenedTier>& opened)
      : log_(log), opened_(opened), users_(users_of(log)), taken_(opened.size()) {}

  TierNumbering number(std::uint64_t boot) {
    assign(is_same);
    assign(took_its_place);
    for (std::size_t i = 0; i < opened_.size(); ++i)
      if (!taken_[i]) take(i, first_free());
    TierNumbering made;
    for (std::size_t i = 0; i < opened_.size(); ++i) {
      made.numbers.push_back(*taken_[i]);
      const TierRecord now{*taken_[i], opened_[i].name, opened_[i].incarnation, opened_[i].place};
      const auto before = log_.tiers.find(now.tier);
      if (before == log_.tiers.end() || before->second != now) made.records.push_back(now);
      if (before != log_.tiers.end() && !is_same(before->second, opened_[i])) made.gone.insert(now.tier);
    }
    for (const auto& [number, known] : log_.tiers) {
      if (in_use_.contains(number) || !lost_at_boot(known, boot)) continue;
      made.records.push_back({number, known.name, 0, {}});
      made.gone.insert(number);
    }
    return made;
  }

 private:
  void take(std::size_t position, std::uint32_t number) {
    taken_[position] = number;
    in_use_.insert(number);
  }

  template <class Fits>
  void assign(Fits fits) {
    for (std::size_t i = 0; i < opened_.size(); ++i) {
      if (taken_[i]) continue;
      const auto known = std::find_if(log_.tiers.begin(), log_.tiers.end(), [&](const auto& entry) {
        return !in_use_.contains(entry.first) && fits(entry.second, opened_[i]);
      });
      if (known != log_.tiers.end()) take(i, known->first);
    }
  }

  // A referenced number stays with its tier, even if the record of that is lost.
  std::uint32_t first_free() const {
    std::uint32_t number = 0;
    while (in_use_.contains(number) || users_.contains(number)) ++number;
    return number;
  }

  const State& log_;
  const std::vector<OpenedTier>& opened_;
  const Users users_;
  std::vector<std::optional<std::uint32_t>> taken_;
  std::set<std::uint32_t> in_use_;
};

bool unreachable(const segment::ChunkEntry& chunk) {
  return chunk.place >= kUnreachableTier && chunk.place != kInTemporarySegment;
}

void set_apart(HeldVersion& held) {
  for (auto it = held.pieces.begin(); it != held.pieces.end();) {
    if (std::any_of(it->second.chunks.begin(), it->second.chunks.end(), unreachable)) {
      held.unreachable.insert(std::move(*it));
      it = held.pieces.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace

std::uint32_t TierNumbers::number_of(std::uint32_t place) const {
  if (same() || place == kInTemporarySegment) return place;
  return place >= kUnreachableTier ? place - kUnreachableTier : by_position_[place];
}

std::uint32_t TierNumbers::place_of(std::uint32_t number) const {
  if (same() || !is_number(number)) return number;
  const auto it = std::find(by_position_.begin(), by_position_.end(), number);
  return it == by_position_.end() ? kUnreachableTier + number : static_cast<std::uint32_t>(it - by_position_.begin());
}

bool TierNumbers::has(std::uint32_t number) const {
  return std::find(by_position_.begin(), by_position_.end(), number) != by_position_.end();
}

Record TierNumbers::numbered(const Record& record) const {
  Record in_log = record;
  if (same()) return in_log;
  if (auto* stage = std::get_if<StageRecord>(&in_log)) {
    for (auto& chunk : stage->piece.chunks) chunk.place = number_of(chunk.place);
  } else if (auto* redundancy = std::get_if<RedundancyRecord>(&in_log)) {
    for (auto& [block, chunk] : redundancy->redundancy_set.kept) chunk.place = number_of(chunk.place);
  }
  return in_log;
}

State TierNumbers::placed(State state) const {
  if (same()) return state;
  for (auto& [id, held] : state.versions) {
    for (auto& [rank, piece] : held.pieces)
      for (auto& chunk : piece.chunks) chunk.place = place_of(chunk.place);
    set_apart(held);
  }
  for (auto& [id, redundancy_set] : state.redundancy_sets) {
    State::UnreachableBlocks apart{{}, redundancy_set.reached};
    for (auto& [block, chunk] : redundancy_set.kept) {
      chunk.place = place_of(chunk.place);
      if (unreachable(chunk)) apart.blocks.emplace(block, chunk);
    }
    if (apart.blocks.empty()) continue;
    std::erase_if(redundancy_set.kept, [](const auto& entry) { return unreachable(entry.second); });
    redundancy_set.reached = false;
    state.unreachable_blocks.emplace(id, std::move(apart));
  }
  return state;
}

TierNumbering number_tiers(const State& log, const std::vector<OpenedTier>& opened, std::uint64_t boot) {
  return Numbering(log, opened).number(boot);
}

std::vector<AbsentTier> absent_tiers(const State& log, const std::vector<OpenedTier>& opened) {
  std::vector<AbsentTier> absent;
  const Users users = users_of(log);
  for (const auto& [number, known] : log.tiers) {
    const bool here =
        std::any_of(opened.begin(), opened.end(), [&k = known](const auto& tier) { return is_same(k, tier); });
    if (here || known.incarnation == 0) continue;
    AbsentTier& tier = absent.emplace_back(AbsentTier{known, {}});
    if (const auto there = users.find(number); there != users.end())
      tier.versions.assign(there->second.begin(), there->second.end());
  }
  return absent;
}

}  // namespace perdure::catalog
