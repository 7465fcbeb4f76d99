#include "capture/memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace perdure::capture {
namespace {

// What is gathered stays in the processor's first cache, so that gathering costs little.
constexpr std::size_t kWorthACall = 2048, kGathered = 16 << 10;

// It has exactly the boxes that this rank wants, in the same order.
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
  constexpr std::uint64_t kUnit = 4 * base::MiB;  // shorter ones are not read sooner
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
  if (!ids) {
    for (const auto& [id, region] : table.regions()) wanted_.push_back(id);
    return;
  }
  wanted_ = *ids;
  std::sort(wanted_.begin(), wanted_.end());
}

base::Result<std::vector<ChunkRange>> MemoryTarget::accept(const std::vector<segment::RegionEntry>& stored) {
  PERDURE_CHECK(check_sizes(table_, stored, wanted_));
  elsewhere_.clear();
  for (const auto& entry : stored) {
    if (entry.kind != segment::EntryKind::array || !std::binary_search(wanted_.begin(), wanted_.end(), entry.id))
      continue;
    if (!as_wanted(*table_.find(entry.id)->part, entry)) elsewhere_.push_back(entry.id);
  }
  std::sort(elsewhere_.begin(), elsewhere_.end());
  direct_.clear();
  std::set_difference(wanted_.begin(), wanted_.end(), elsewhere_.begin(), elsewhere_.end(),
                      std::back_inserter(direct_));
  memory_ = restored_memory(table_, stored, direct_);
  std::vector<ChunkRange> needed;
  std::uint64_t begin = 0;
  for (const auto& entry : stored) {
    const bool wanted = std::binary_search(direct_.begin(), direct_.end(), entry.id);
    if (wanted && entry.bytes() > 0) needed.push_back({begin, entry.bytes()});
    begin += entry.bytes();
  }
  return needed;
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
