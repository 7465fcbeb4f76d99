#include "tier/slot_io.hpp"

#include <algorithm>

#include "base/scatter.hpp"

namespace perdure::tier {
namespace {

base::Status check_range(const SlotAddress& slot, std::uint64_t offset, std::uint64_t bytes) {
  if (offset <= slot.capacity && bytes <= slot.capacity - offset) return {};
  return base::fail(PERDURE_INTERNAL, slot.path,
                    "access beyond the slot's capacity of " + std::to_string(slot.capacity) + " bytes");
}

// Smaller pieces are written and read together.
constexpr std::uint64_t kGathered = 256 * base::KiB;
// A run that bypasses the caches is at least this long, if all of it is large.
constexpr std::uint64_t kLongRun = 4 * base::KiB;

/// Unwanted bytes are hashed in place.
void scatter_memory(base::ConstByteSpan memory, std::span<const base::MemorySpan> spans, base::Hasher& hasher) {
  const std::uint64_t stream_from = memory.size() < base::kStreamFrom ? base::kStreamFrom : kLongRun;
  for (const auto& span : spans) {
    if (span.address == nullptr)
      hasher.update(memory.first(span.length));
    else
      base::copy_and_hash(span.address, memory.data(), span.length, hasher, stream_from);
    memory = memory.subspan(span.length);
  }
}

}  // namespace

SlotFill::SlotFill(std::shared_ptr<SlotAccess> access, std::uint64_t bytes, base::Hasher& hasher)
    : access_(std::move(access)), bytes_(bytes), hasher_(hasher), is_memory_(!access_->memory().empty()) {
  if (is_memory_ && bytes >= base::kStreamFrom) copy_.emplace(access_->memory().data(), hasher);
}

base::Status SlotFill::append(base::ConstByteSpan data) {
  if (data.size() > bytes_ - appended_)
    return base::fail(PERDURE_INTERNAL, "slot", "it is to be filled with more than was said");
  appended_ += data.size();
  if (copy_) {
    copy_->append(data);
    return {};
  }
  if (!is_memory_ && gathered_.size() + data.size() < kGathered) {
    gathered_.insert(gathered_.end(), data.begin(), data.end());
    return {};
  }
  PERDURE_CHECK(write(gathered_));
  gathered_.clear();
  return write(data);
}

base::Status SlotFill::write(base::ConstByteSpan data) {
  if (data.empty()) return {};
  PERDURE_CHECK(access_->write(written_, data, hasher_));
  written_ += data.size();
  return {};
}

base::Status SlotFill::finish() {
  if (!copy_) return write(gathered_);
  copy_->finish();
  return {};
}

base::Result<SlotFill> SlotIo::fill(const SlotAddress& slot, std::uint64_t bytes, base::Hasher& hasher) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(auto access, open(slot));
  return SlotFill(std::move(access), bytes, hasher);
}

base::Result<SlotFill> SlotIo::fill_file(const SlotAddress& slot, std::uint64_t bytes, base::Hasher& hasher) {
  if (!slot.mapped) return fill(slot, bytes, hasher);
  PERDURE_CHECK(check_range(slot, 0, bytes));
  SlotAddress in_file = slot;
  in_file.mapped = false;
  PERDURE_TRY(std::shared_ptr<SlotAccess> access, open_slot(in_file));
  return SlotFill(std::move(access), bytes, hasher);
}

base::Status SlotIo::scatter(const SlotAddress& slot, std::span<const base::MemorySpan> spans, base::Hasher& hasher) {
  std::uint64_t bytes = 0;
  for (const auto& span : spans) bytes += span.length;
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(const auto access, open(slot));
  const base::ConstByteSpan memory = access->memory();
  if (memory.size() >= bytes) {
    scatter_memory(memory.first(bytes), spans, hasher);
    return {};
  }
  return base::scatter_blocks(
      spans, [&](std::uint64_t offset, base::ByteSpan target) { return access->read(offset, target, hasher); });
}

base::Result<std::shared_ptr<SlotAccess>> SlotIo::open(const SlotAddress& slot) {
  std::lock_guard lock(mutex_);
  const Key key{slot.path, slot.offset};
  if (const auto known = open_.find(key); known != open_.end()) {
    if (const auto file = std::find(files_.begin(), files_.end(), key); file != files_.end())
      std::rotate(file, file + 1, files_.end());
    return known->second;
  }
  base::Result<std::shared_ptr<SlotAccess>> access = open_slot(slot);
  if (!access && access.error().retryable && !files_.empty()) {  // the process may have used up its descriptors
    close_files(0);
    access = open_slot(slot);
  }
  if (!access) return access;
  if ((*access)->view().empty()) {
    close_files(kMostFiles - 1);
    files_.push_back(key);
  }
  open_.emplace(key, *access);
  return access;
}

void SlotIo::close_files(std::size_t most) {
  while (files_.size() > most) {
    open_.erase(files_.front());
    files_.erase(files_.begin());
  }
}

base::Status SlotIo::prepare(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(const auto access, open(slot));
  return access->prepare(bytes, slot.fresh);
}

base::Status SlotIo::prepare_part(const SlotAddress& slot, std::uint64_t begin, std::uint64_t end) {
  PERDURE_CHECK(check_range(slot, begin, end - begin));
  PERDURE_TRY(const auto access, open(slot));
  return access->prepare_part(begin, end);
}

base::Status SlotIo::prepare_to_read(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(const auto access, open(slot));
  return access->prepare_to_read(bytes);
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

base::Result<base::ByteSpan> SlotIo::memory(const SlotAddress& slot, std::uint64_t bytes) {
  PERDURE_CHECK(check_range(slot, 0, bytes));
  PERDURE_TRY(const auto access, open(slot));
  const base::ByteSpan all = access->memory();
  return all.size() < bytes ? base::ByteSpan() : all.first(bytes);
}

void SlotIo::clear() {
  std::lock_guard lock(mutex_);
  open_.clear();
  files_.clear();
}

}  // namespace perdure::tier
