// Implements slots in files: memory that is mapped, or written and read in place.
#include <algorithm>
#include <mutex>
#include <vector>

#include "os/file.hpp"
#include "os/memory_map.hpp"
#include "tier/tier.hpp"

namespace perdure::tier {
namespace {

// A block is hashed while it is in the cache: before the kernel reads it, or right after it was filled.
constexpr std::uint64_t kIoBlock = 256 * base::KiB;

// Another thread of the application may write to its memory during a checkpoint. A block is copied first, so that its
// hash matches the bytes in the file.
base::ByteSpan own_block() {
  thread_local std::vector<std::byte> block;
  block.resize(kIoBlock);
  return block;
}

class MappedSlot final : public SlotAccess {
 public:
  explicit MappedSlot(os::Mapping mapping) : mapping_(std::move(mapping)) {}

  base::Status write(std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher) override {
    base::copy_and_hash(mapping_.data() + offset, data.data(), data.size(), hasher);
    return {};
  }
  base::Status read(std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) override {
    base::copy_and_hash(target.data(), mapping_.data() + offset, target.size(), hasher);
    return {};
  }
  base::Result<std::uint64_t> size() override { return mapping_.size(); }
  base::ConstByteSpan view() const override { return {mapping_.data(), mapping_.size()}; }
  base::ByteSpan memory() override { return {mapping_.data(), mapping_.size()}; }
  base::Status prepare(std::uint64_t bytes, bool fresh) override {
    std::lock_guard guard(preparing_);
    if (populated_ >= bytes && !fresh) return {};
    populated_ = 0;  // in case populate() fails
    PERDURE_CHECK(mapping_.populate(0, bytes));
    populated_ = bytes;
    return {};
  }
  base::Status prepare_part(std::uint64_t begin, std::uint64_t end) override {
    std::lock_guard guard(preparing_);
    if (populated_ >= end) return {};
    PERDURE_CHECK(mapping_.populate(begin, end - begin));
    if (populated_ >= begin) populated_ = end;
    return {};
  }
  base::Status prepare_to_read(std::uint64_t bytes) override {
    std::lock_guard guard(preparing_);
    return populated_ >= bytes ? base::Status() : mapping_.populate(0, bytes, os::Mapping::Access::read);
  }

 private:
  os::Mapping mapping_;
  std::mutex preparing_;
  std::uint64_t populated_ = 0;
};

class FileSlot final : public SlotAccess {
 public:
  FileSlot(os::File file, std::uint64_t begin) : file_(std::move(file)), begin_(begin) {}

  base::Status write(std::uint64_t offset, base::ConstByteSpan data, base::Hasher& hasher) override {
    const base::ByteSpan own = own_block();
    for (std::uint64_t done = 0; done < data.size(); done += kIoBlock) {
      const auto block = own.first(std::min<std::uint64_t>(kIoBlock, data.size() - done));
      base::copy_and_hash(block.data(), data.data() + done, block.size(), hasher);
      PERDURE_CHECK(file_.write(begin_ + offset + done, block));
    }
    return {};
  }
  base::Status read(std::uint64_t offset, base::ByteSpan target, base::Hasher& hasher) override {
    for (std::uint64_t done = 0; done < target.size(); done += kIoBlock) {
      auto block = target.subspan(done, std::min<std::uint64_t>(kIoBlock, target.size() - done));
      PERDURE_CHECK(file_.read(begin_ + offset + done, block));
      hasher.update(block);
    }
    return {};
  }
  // A file is as long as the data written there.
  base::Result<std::uint64_t> size() override {
    PERDURE_TRY(const std::uint64_t end, file_.size());
    return end - std::min(end, begin_);
  }

 private:
  os::File file_;
  std::uint64_t begin_;
};

}  // namespace

base::Result<std::unique_ptr<SlotAccess>> open_file_slot(const SlotAddress& slot) {
  PERDURE_TRY(auto file, os::File::open(slot.path, os::Open::read_write));
  if (!slot.mapped) return std::make_unique<FileSlot>(std::move(file), slot.offset);
  // A mapping needs no descriptor, and hundreds of slots must not use hundreds of them.
  PERDURE_TRY(auto mapping, os::Mapping::map(file, slot.offset, slot.capacity, true));
  mapping.advise_huge_pages();
  return std::make_unique<MappedSlot>(std::move(mapping));
}

}  // namespace perdure::tier
