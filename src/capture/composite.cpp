#include "capture/composite.hpp"

#include <algorithm>
#include <set>

namespace perdure::capture {
namespace {

// Gives the bytes that both have; empty: none.
ChunkRange common_bytes(ChunkRange a, ChunkRange b) {
  const std::uint64_t begin = std::max(a.begin, b.begin), end = std::min(a.end(), b.end());
  return begin < end ? ChunkRange{begin, end - begin} : ChunkRange{};
}

}  // namespace

Manner CompositeSource::manner() const {
  Manner all{parts_.empty() ? 1 : ~0U, !parts_.empty(), 0};
  for (const Source* part : parts_) {
    const Manner one = part->manner();
    all.threads = std::min(all.threads, one.threads);
    all.once = all.once && one.once;
    if (one.most_chunk_bytes != 0 && (all.most_chunk_bytes == 0 || one.most_chunk_bytes < all.most_chunk_bytes))
      all.most_chunk_bytes = one.most_chunk_bytes;
  }
  return all;
}

base::Result<Description> CompositeSource::describe() {
  Description all;
  std::set<std::int32_t> numbers;
  ends_.clear();
  for (Source* part : parts_) {
    PERDURE_TRY(auto described, part->describe());
    for (auto& entry : described.entries) {
      if (!numbers.insert(entry.id).second)
        return base::fail(PERDURE_INVALID_ARGUMENT, "entry " + std::to_string(entry.id),
                          "two sources of one checkpoint have this number", "give each entry a number of its own");
      all.entries.push_back(std::move(entry));
    }
    ends_.push_back(all.bytes += described.bytes);
  }
  return all;
}

base::Status CompositeSource::goes_to(const segment::VersionId& id) {
  for (Source* part : parts_) PERDURE_CHECK(part->goes_to(id));
  return {};
}

base::Status CompositeSource::read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < parts_.size(); begin = ends_[i++]) {
    const auto own = common_bytes(range, {begin, ends_[i] - begin});
    if (own.length > 0) PERDURE_CHECK(parts_[i]->read({own.begin - begin, own.length}, take));
  }
  return {};
}

void CompositeTarget::comes_from(const segment::VersionId& id) {
  for (const Part& part : parts_) part.target->comes_from(id);
}

base::Result<std::vector<ChunkRange>> CompositeTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  stretches_.clear();
  std::vector<std::vector<segment::RegionEntry>> entries(parts_.size());
  std::vector<std::uint64_t> bytes(parts_.size());
  std::uint64_t begin = 0;
  for (const auto& entry : stored) {
    const auto taker = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.takes(entry); });
    if (taker == parts_.end())
      return base::fail(PERDURE_MISMATCH, "entry " + std::to_string(entry.id), "nothing takes it");
    const auto part = static_cast<std::size_t>(taker - parts_.begin());
    if (entry.bytes() > 0) stretches_.push_back({{begin, entry.bytes()}, part, bytes[part]});
    entries[part].push_back(entry);
    bytes[part] += entry.bytes();
    begin += entry.bytes();
  }
  std::vector<std::vector<ChunkRange>> of_part;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    PERDURE_TRY(auto ranges, parts_[part].target->accept(entries[part]));
    of_part.push_back(std::move(ranges));
  }
  std::vector<ChunkRange> needed;
  for (const Stretch& stretch : stretches_)
    for (const auto& range : of_part[stretch.part])
      if (const auto own = common_bytes(range, {stretch.in_part, stretch.range.length}); own.length > 0)
        needed.push_back({stretch.range.begin + (own.begin - stretch.in_part), own.length});
  return needed;
}

// Calls use(target, range in its part, range in the capture) for each stretch of `range`, until one fails.
template <class Use>
base::Status CompositeTarget::each(ChunkRange range, Use use) const {
  const auto ends_before = [](const Stretch& stretch, std::uint64_t byte) { return stretch.range.end() <= byte; };
  auto at = std::lower_bound(stretches_.begin(), stretches_.end(), range.begin, ends_before);
  for (; at != stretches_.end() && at->range.begin < range.end(); ++at) {
    const auto own = common_bytes(range, at->range);
    const ChunkRange in_part{at->in_part + (own.begin - at->range.begin), own.length};
    PERDURE_CHECK(use(*parts_[at->part].target, in_part, own));
  }
  return {};
}

std::vector<MemorySpan> CompositeTarget::memory(ChunkRange range) {
  std::vector<MemorySpan> all;
  const auto found = each(range, [&](Target& target, ChunkRange in_part, ChunkRange) -> base::Status {
    const auto spans = target.memory(in_part);
    all.insert(all.end(), spans.begin(), spans.end());
    return spans.empty() ? base::fail(PERDURE_NOT_FOUND, "memory", "it takes bytes") : base::Status();
  });
  return found ? all : std::vector<MemorySpan>();
}

std::optional<std::uint64_t> CompositeTarget::wanted() {
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto byte = parts_[part].target->wanted();
    for (const Stretch& stretch : stretches_)
      if (byte && stretch.part == part && *byte >= stretch.in_part && *byte - stretch.in_part < stretch.range.length)
        return stretch.range.begin + (*byte - stretch.in_part);
  }
  return std::nullopt;
}

bool CompositeTarget::is_read_ahead() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.target->is_read_ahead(); });
}

base::Status CompositeTarget::write(ChunkRange range, base::ConstByteSpan bytes) {
  return each(range, [&](Target& target, ChunkRange in_part, ChunkRange own) {
    return target.write(in_part, bytes.subspan(own.begin - range.begin, own.length));
  });
}

}  // namespace perdure::capture
