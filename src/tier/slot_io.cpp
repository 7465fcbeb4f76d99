#include "tier/slot_io.hpp"

namespace perdure::tier {
namespace {

base::Status check_range(const SlotAddress& slot, std::uint64_t offset, std::uint64_t bytes) {
  if (offset <= slot.capacity && bytes <= slot.capacity - offset) return {};
  return base::fail(PERDURE_INTERNAL, slot.path,
                    "access beyond the slot's capacity of " + std::to_string(slot.capacity) + " bytes");
}

}  // namespace

base::Result<std::shared_ptr<SlotAccess>> SlotIo::open(const SlotAddress& slot) {
  std::lock_guard lock(mutex_);
  auto& entry = open_[{slot.path, slot.offset}];
  if (entry) return entry;
  PERDURE_TRY(entry, open_slot(slot));
  return entry;
}

base::Status SlotIo::prepare(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(const auto access, open(slot));
  return access->prepare(bytes, slot.fresh);
}

base::Status SlotIo::write(const SlotAddress& slot, std::uint64_t offset, base::ConstByteSpan data,
                           base::Hasher& hasher) {
  PERDURE_CHECK(check_range(slot, offset, data.size()));
  PERDURE_TRY(const auto access, open(slot));
  return access->write(offset, data, hasher);
}

base::Status SlotIo::read(const SlotAddress& slot, std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) {
  PERDURE_CHECK(check_range(slot, offset, target.size()));
  PERDURE_TRY(const auto access, open(slot));
  return access->read(offset, target, hasher);
}

base::Result<std::uint64_t> SlotIo::size(const SlotAddress& slot) {
  PERDURE_TRY(const auto access, open(slot));
  return access->size();
}

base::Result<base::ConstByteSpan> SlotIo::view(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(const auto access, open(slot));
  const base::ConstByteSpan all = access->view();
  return all.empty() ? all : all.first(bytes);
}

void SlotIo::clear() {
  std::lock_guard lock(mutex_);
  open_.clear();
}

}  // namespace perdure::tier
