#include "tier/slot_io.hpp"

#include <algorithm>
#include <cstring>

namespace perdure::tier {
namespace {

// File slots: hash a block while it is in the cache that the kernel is about to read it from (or has just filled).
constexpr std::uint64_t kIoBlock = 256 * base::KiB;

base::Status check_range(const SlotAddress& slot, std::uint64_t offset, std::uint64_t bytes) {
  if (offset <= slot.capacity && bytes <= slot.capacity - offset) return {};
  return base::fail(PERDURE_INTERNAL, slot.path,
                    "access beyond the slot's capacity of " + std::to_string(slot.capacity) + " bytes");
}

}  // namespace

base::Result<std::shared_ptr<SlotIo::Open>> SlotIo::open(const SlotAddress& slot) {
  std::lock_guard lock(mutex_);
  auto& entry = open_[{slot.path, slot.offset}];
  if (entry) return entry;
  auto fresh = std::make_shared<Open>();
  PERDURE_TRY(fresh->file, os::File::open(slot.path, os::Open::read_write));
  if (slot.mapped) {
    PERDURE_TRY(fresh->mapping, os::Mapping::map(fresh->file, slot.offset, slot.capacity, true));
    fresh->mapping.advise_huge_pages();
    fresh->file = os::File();  // a mapping needs no descriptor; hundreds of slots must not use hundreds of them
  }
  entry = fresh;
  return fresh;
}

base::Status SlotIo::prepare(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  if (!slot.mapped) return {};
  PERDURE_TRY(auto entry, open(slot));
  std::lock_guard guard(entry->preparing);
  if (entry->populated >= bytes && !slot.fresh) return {};
  entry->populated = 0;  // should it fail
  PERDURE_CHECK(entry->mapping.populate(0, bytes));
  entry->populated = bytes;
  return {};
}

base::Status SlotIo::write(const SlotAddress& slot, std::uint64_t offset, base::ConstByteSpan data,
                           base::Hasher& hasher) {
  PERDURE_CHECK(check_range(slot, offset, data.size()));
  PERDURE_TRY(auto entry, open(slot));
  if (slot.mapped) {
    base::copy_and_hash(entry->mapping.data() + offset, data.data(), data.size(), hasher);
    return {};
  }
  for (std::uint64_t done = 0; done < data.size(); done += kIoBlock) {
    auto block = data.subspan(done, std::min<std::uint64_t>(kIoBlock, data.size() - done));
    hasher.update(block);
    PERDURE_CHECK(entry->file.write(slot.offset + offset + done, block));
  }
  return {};
}

base::Status SlotIo::read(const SlotAddress& slot, std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) {
  PERDURE_CHECK(check_range(slot, offset, target.size()));
  PERDURE_TRY(auto entry, open(slot));
  if (slot.mapped) {
    base::copy_and_hash(target.data(), entry->mapping.data() + offset, target.size(), hasher);
    return {};
  }
  for (std::uint64_t done = 0; done < target.size(); done += kIoBlock) {
    auto block = target.subspan(done, std::min<std::uint64_t>(kIoBlock, target.size() - done));
    PERDURE_CHECK(entry->file.read(slot.offset + offset + done, block));
    hasher.update(block);
  }
  return {};
}

base::Result<base::ConstByteSpan> SlotIo::view(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  if (!slot.mapped) return base::ConstByteSpan{};
  PERDURE_TRY(auto entry, open(slot));
  return base::ConstByteSpan(entry->mapping.data(), bytes);
}

void SlotIo::clear() {
  std::lock_guard lock(mutex_);
  open_.clear();
}

}  // namespace perdure::tier
