#include "process/image_source.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "process/increment.hpp"
#include "process/pages.hpp"
#include "process/remote_memory.hpp"
#include "process/zero_pages.hpp"

namespace perdure::process {
namespace {

// Fits into a processor's own cache between reading and writing to a slot.
constexpr std::uint64_t kGatheredBytes = 256 * base::KiB;
constexpr std::size_t kMostParts = 256;  // the kernel accepts 1024

segment::RegionEntry entry_of(std::int32_t id, std::uint64_t element_bytes, std::uint64_t count, std::string name) {
  segment::RegionEntry entry{id, element_bytes, count, segment::EntryKind::opaque};
  entry.attributes[std::string("name")] = std::move(name);
  return entry;
}

/// Parts of another process's memory that one call reads.
class Gathering {
 public:
  Gathering(pid_t process, base::ByteSpan block) : process_(process), block_(block) { parts_.reserve(kMostParts); }
  bool empty() const { return bytes_ == 0; }
  bool full() const { return bytes_ == block_.size() || parts_.size() == kMostParts; }
  /// Adds as much as fits, and returns that length.
  std::uint64_t add(std::uint64_t address, std::uint64_t length) {
    const std::uint64_t part = std::min<std::uint64_t>(length, block_.size() - bytes_);
    parts_.push_back({reinterpret_cast<void*>(address), part});  // NOLINT: an address there
    bytes_ += part;
    return part;
  }
  /// Reads all parts.
  base::Result<base::ConstByteSpan> read() {
    iovec here{block_.data(), bytes_};
    const auto got = ::process_vm_readv(process_, &here, 1, parts_.data(), parts_.size(), 0);
    if (got < 0 || static_cast<std::uint64_t>(got) != bytes_) PERDURE_CHECK(read_apart());
    const base::ConstByteSpan all = block_.first(bytes_);
    parts_.clear();
    bytes_ = 0;
    return all;
  }

 private:
  base::Status read_apart() {  // the error has the address
    std::uint64_t at = 0;
    for (const iovec& part : parts_) {
      PERDURE_CHECK(
          read_memory(process_, reinterpret_cast<std::uint64_t>(part.iov_base), block_.subspan(at, part.iov_len)));
      at += part.iov_len;
    }
    return {};
  }
  pid_t process_;
  base::ByteSpan block_;
  std::vector<iovec> parts_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

ProcessImage without_zeros(pid_t process, ProcessImage image, std::size_t most_runs) {
  const auto zeros = zero_blocks(process, blocks_of(image), copying_threads());
  image.pages = pages_without(image.pages, zeros, most_runs);
  return image;
}

std::vector<segment::RegionEntry> entries_of(std::uint64_t record_bytes, const ProcessImage& image) {
  std::vector<segment::RegionEntry> entries;
  entries.push_back(entry_of(kRecordEntry, 1, record_bytes, "process"));
  segment::set_borrowed(entries.back(), lent_segments(image.increment));
  for (const NodePages& node : image.pages)
    entries.push_back(entry_of(static_cast<std::int32_t>(entries.size()), kPageBytes, node.pages(),
                               "pages_of_node_" + std::to_string(node.node)));
  return entries;
}

std::uint64_t chunk_bytes_of_image(std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 4 * base::MiB, kChunks = 256;
  return std::max(kUnit, base::round_up(bytes / kChunks, kUnit));
}

PageOrder::PageOrder(const std::vector<NodePages>& pages) {
  std::uint64_t begin = 0;
  for (const NodePages& node : pages)
    for (const PageRun& run : node.runs) {
      runs_.push_back(run);
      begins_.push_back(begin);
      begin += run.pages * kPageBytes;
    }
}

std::size_t PageOrder::run_of(std::uint64_t begin) const {
  return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), begin) - begins_.begin()) - 1;
}

std::uint64_t bytes_of(const std::vector<segment::RegionEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const auto& entry : entries) bytes += entry.bytes();
  return bytes;
}

ImageSource::ImageSource(pid_t process, ProcessImage image)
    : ImageSource(process, without_zeros(process, std::move(image)), Ready()) {}

ImageSource::ImageSource(pid_t process, const ProcessImage& image, Ready)
    : process_(process), record_(encode_image(image)), order_(image.pages) {
  description_.entries = entries_of(record_.size(), image);
  description_.bytes = bytes_of(description_.entries);
}

base::Result<capture::Description> ImageSource::describe() { return description_; }

base::Status ImageSource::read(capture::ChunkRange range,
                               const std::function<base::Status(base::ConstByteSpan)>& take) {
  const std::uint64_t of_record =
      range.begin < record_.size() ? std::min(range.end(), record_.size()) - range.begin : 0;
  if (of_record > 0) PERDURE_CHECK(take(base::ConstByteSpan(record_).subspan(range.begin, of_record)));
  if (of_record == range.length) return {};
  return read_pages(range.begin + of_record - record_.size(), range.length - of_record, take);
}

base::Status ImageSource::read_pages(std::uint64_t begin, std::uint64_t length,
                                     const std::function<base::Status(base::ConstByteSpan)>& take) const {
  std::vector<std::byte> block(kGatheredBytes);
  Gathering gathering(process_, block);
  const auto give = [&]() -> base::Status {
    PERDURE_TRY(const auto bytes, gathering.read());
    return take(bytes);
  };
  const auto gather = [&](std::uint64_t address, std::uint64_t part) -> base::Status {
    while (part > 0) {
      const std::uint64_t added = gathering.add(address, part);
      address += added;
      part -= added;
      if (gathering.full()) PERDURE_CHECK(give());
    }
    return {};
  };
  PERDURE_CHECK(order_.for_each(begin, length, gather));
  return gathering.empty() ? base::Status() : give();
}

}  // namespace perdure::process
