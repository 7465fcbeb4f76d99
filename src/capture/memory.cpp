#include "capture/memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace perdure::capture {
namespace {

// Gathered bytes stay in the processor's first cache, so gathering costs little.
constexpr std::size_t kWorthACall = 2048, kGathered = 16 << 10;

// Whether it has exactly the boxes that this rank wants, in the same order.
bool as_wanted(const ArrayPart& part, const segment::RegionEntry& entry) {
  const auto stored = segment::array_of(entry, "stored checkpoint");
  return stored && stored->kind == part.array().kind && !part.fills_ghosts() &&
         stored->boxes.size() == part.memory().size() &&
         std::equal(stored->boxes.begin(), stored->boxes.end(), part.memory().begin(),
                    [](const array::Box& box, const array::Strided& lies) { return box == lies.box; });
}

}  // namespace

std::vector<ChunkRange> cut(std::uint64_t total, std::uint64_t chunk_bytes) {
  std::vector<ChunkRange> chunks;
  for (std::uint64_t begin = 0; begin < total; begin += chunk_bytes)
    chunks.push_back({begin, std::min(chunk_bytes, total - begin)});
  return chunks;
}

std::uint64_t chunk_bytes_of_parts(std::uint64_t total, std::uint64_t most) {
  constexpr std::uint64_t kUnit = 4 * base::MiB;  // shorter ones are not read faster
  constexpr std::uint64_t kChunks = 16;
  return std::min(std::max(base::round_up(total / kChunks, kUnit), kUnit), most);
}

base::Status MemorySource::read(ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) {
  gathered_.clear();
  const auto pass_on = [&]() -> base::Status {
    const base::Status taken = gathered_.empty() ? base::Status() : take(gathered_);
    gathered_.clear();
    return taken;
  };
  const auto read = memory_.each(range, [&](const std::byte* address, std::uint64_t bytes) {
    if (memory_.scattered() && bytes < kWorthACall) {
      gathered_.insert(gathered_.end(), address, address + bytes);
      return gathered_.size() < kGathered ? base::Status() : pass_on();
    }
    const base::Status before = pass_on();
    return before ? take(base::ConstByteSpan(address, bytes)) : before;
  });
  return read ? pass_on() : read;
}

MemoryTarget::MemoryTarget(const RegionTable& table, const std::optional<std::vector<std::int32_t>>& ids)
    : table_(table) {
  wanted_.all = !ids;
  if (!ids) {
    for (const auto& [id, region] : table.regions()) wanted_.ids.push_back(id);
    return;
  }
  wanted_.ids = *ids;
  std::sort(wanted_.ids.begin(), wanted_.ids.end());
  wanted_.ids.erase(std::unique(wanted_.ids.begin(), wanted_.ids.end()), wanted_.ids.end());
}

base::Result<std::vector<ChunkRange>> MemoryTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  PERDURE_TRY(auto matching, match_regions(table_, stored, wanted_));
  if (!matching.differences.empty()) return base::fail(mismatch(matching.differences, ""));
  absent_ = std::move(matching.absent);
  direct_ = std::move(matching.to);
  elsewhere_.clear();
  std::vector<ChunkRange> needed;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto& entry = stored[i];
    if (direct_[i] != kNoRegion && entry.kind == segment::EntryKind::array &&
        !as_wanted(*table_.find(direct_[i])->part, entry))
      elsewhere_.push_back(std::exchange(direct_[i], kNoRegion));
    if (direct_[i] != kNoRegion && entry.bytes() > 0) needed.push_back({begin, entry.bytes()});
    begin += entry.bytes();
  }
  std::sort(elsewhere_.begin(), elsewhere_.end());
  memory_ = restored_memory(table_, stored, direct_);
  return needed;
}

void MemoryTarget::take_all_elsewhere() {
  elsewhere_.clear();
  absent_.clear();
  for (const std::int32_t id : wanted_.ids) {
    const Region* region = table_.find(id);
    (region != nullptr && !region->part ? absent_ : elsewhere_).push_back(id);
  }
}

base::Status MemoryTarget::write(ChunkRange range, base::ConstByteSpan bytes) {
  std::uint64_t done = 0;
  return memory_.each(range, [&](std::byte* address, std::uint64_t length) -> base::Status {
    if (address != nullptr) std::memcpy(address, bytes.data() + done, length);
    done += length;
    return {};
  });
}

}  // namespace perdure::capture
