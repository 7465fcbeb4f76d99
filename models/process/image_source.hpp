#pragma once
// Captures a process that stands still: its record, and its pages directly from its memory.
#include <algorithm>

#include "capture/source.hpp"
#include "process/gathering.hpp"
#include "process/image.hpp"
#include "process/pages.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// The entries of a capture: the record first, then the pages of each node.
inline constexpr std::int32_t kRecordEntry = 0;
inline constexpr std::uint64_t kMostRecordBytes =
    1280 * base::MiB;  ///< must exceed the content of all open files (OpenFiles::kMostContentBytes)
std::vector<segment::RegionEntry> entries_of(std::uint64_t record_bytes, const ProcessImage& image);
/// Returns the bytes of all entries together.
std::uint64_t bytes_of(const std::vector<segment::RegionEntry>& entries);

/// Returns the default chunk size for an image of this many bytes. In a lazy resume, a thread that needs a page waits
/// for its whole chunk.
std::uint64_t chunk_bytes_of_image(std::uint64_t bytes);

/// Maps byte offsets in the entries of pages to memory addresses, in the order of the lists.
class PageOrder {
 public:
  explicit PageOrder(const std::vector<NodePages>& pages);
  std::uint64_t bytes() const { return begins_.empty() ? 0 : begins_.back() + runs_.back().pages * kPageBytes; }
  /// Calls take(address, length) for the memory of bytes [begin, begin + length), until one call fails.
  template <class Take>
  base::Status for_each(std::uint64_t begin, std::uint64_t length, Take take) const {
    for (std::size_t run = run_of(begin); length > 0; ++run) {
      const std::uint64_t skipped = begin - begins_[run];
      const std::uint64_t part = std::min(length, runs_[run].pages * kPageBytes - skipped);
      PERDURE_CHECK(take(runs_[run].begin + skipped, part));
      begin += part;
      length -= part;
    }
    return {};
  }

 private:
  std::size_t run_of(std::uint64_t begin) const;
  std::vector<PageRun> runs_;
  std::vector<std::uint64_t> begins_;  // offset of each run
};

/// Leaves out pages of zeros, as long as the image keeps at most `most_runs` runs of pages. The process must stand
/// still.
ProcessImage without_zeros(pid_t process, ProcessImage image, std::size_t most_runs = kMostPageRuns);

/// The process must be held while this is used. Leaves out pages of `image` that have only zeros.
class ImageSource : public capture::Source {
 public:
  ImageSource(pid_t process, ProcessImage image);
  struct Ready {};  ///< the image needs no further shortening
  ImageSource(pid_t process, const ProcessImage& image, Ready);
  base::Result<capture::Description> describe() override;
  capture::Manner manner() const override { return {chunks_at_once(), true, chunk_bytes_of_image(description_.bytes)}; }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override;

 private:
  base::Status read_pages(std::uint64_t begin, std::uint64_t length,
                          const std::function<base::Status(base::ConstByteSpan)>& take) const;
  pid_t process_;
  std::vector<std::byte> record_;
  capture::Description description_;
  PageOrder order_;
};

}  // namespace perdure::process
