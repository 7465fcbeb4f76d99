#include "inspect/alike.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace perdure::inspect {
namespace {

/// The properties that ranks must have in common to share a line.
using Likeness = std::vector<std::uint64_t>;

Likeness likeness(const segment::Piece& piece, bool with_counts) {
  Likeness numbers;
  for (const auto& region : piece.regions) {
    numbers.push_back(static_cast<std::uint32_t>(region.id));
    numbers.push_back(static_cast<std::uint32_t>(region.kind));
    numbers.push_back(region.element_bytes);
    if (with_counts) numbers.push_back(region.count);
  }
  return numbers;
}

using Lots = std::map<Likeness, std::vector<const segment::Piece*>>;

Lots sorted(const reader::VersionFacts& facts, bool with_counts) {
  Lots lots;
  for (const reader::SegmentFacts& segment : facts.segments)
    if (segment.manifest)
      for (const auto& piece : segment.manifest->pieces) lots[likeness(piece, with_counts)].push_back(&piece);
  return lots;
}

/// Groups regions that have the same size on the first rank, and the same least and greatest size on all.
std::vector<AlikeRegions> alike_regions(const std::vector<const segment::Piece*>& pieces) {
  std::vector<AlikeRegions> folded;
  std::map<std::tuple<segment::EntryKind, std::uint64_t, std::uint64_t, std::uint64_t>, std::size_t> places;
  for (std::size_t i = 0; i < pieces.front()->regions.size(); ++i) {
    const segment::RegionEntry& first = pieces.front()->regions[i];
    AlikeRegions one{{first.id}, first.kind, first.element_bytes, {first.count, first.count}, 0};
    for (const auto* piece : pieces) {
      one.count.widen(piece->regions[i].count);
      one.bytes += piece->regions[i].bytes();
    }
    const auto [place, fresh] =
        places.try_emplace({one.kind, one.element_bytes, one.count.least, one.count.most}, folded.size());
    if (fresh) {
      folded.push_back(std::move(one));
    } else {
      folded[place->second].ids.push_back(first.id);
      folded[place->second].bytes += one.bytes;
    }
  }
  for (AlikeRegions& one : folded) std::sort(one.ids.begin(), one.ids.end());
  return folded;
}

AlikeRanks told_together(std::vector<const segment::Piece*> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const auto* a, const auto* b) { return a->rank < b->rank; });
  AlikeRanks alike;
  alike.regions = alike_regions(pieces);
  alike.region_count = pieces.front()->regions.size();
  const std::uint64_t first = pieces.front()->capture_bytes();
  alike.chunk_bytes = {pieces.front()->chunk_bytes, pieces.front()->chunk_bytes};
  alike.rank_bytes = {first, first};
  for (const auto* piece : pieces) {
    alike.ranks.push_back(piece->rank);
    alike.chunks += piece->chunks.size();
    alike.chunk_bytes.widen(piece->chunk_bytes);
    alike.rank_bytes.widen(piece->capture_bytes());
    alike.bytes += piece->capture_bytes();
  }
  return alike;
}

}  // namespace

void Span::widen(std::uint64_t value) {
  least = std::min(least, value);
  most = std::max(most, value);
}

std::vector<AlikeRanks> alike_ranks(const reader::VersionFacts& facts, std::size_t most) {
  Lots lots = sorted(facts, true);
  if (lots.size() > most) lots = sorted(facts, false);
  std::vector<AlikeRanks> all;
  for (const auto& [like, pieces] : lots) all.push_back(told_together(pieces));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.ranks.front() < b.ranks.front(); });
  return all;
}

std::string short_ranges(const std::vector<std::int64_t>& ascending, std::size_t most) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    ranges.push_back(std::to_string(ascending[i]) + (last > i ? "-" + std::to_string(ascending[last]) : ""));
    i = last + 1;
  }
  std::string text;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool left_out = ranges.size() > most && i + 1 >= most && i + 1 < ranges.size();
    if (left_out && i + 1 > most) continue;
    text += (text.empty() ? "" : ",") + (left_out ? std::string("...") : ranges[i]);
  }
  return text;
}

}  // namespace perdure::inspect
