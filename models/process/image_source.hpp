#pragma once
// A process that stands still as the source of a capture: its image, and its pages from its memory to the slots.
#include <algorithm>

#include "capture/source.hpp"
#include "process/gathering.hpp"
#include "process/image.hpp"
#include "process/pages.hpp"
#include "process/tracee.hpp"

namespace perdure::process {

/// Entries of a capture: the record first, then the pages of each node.
inline constexpr std::int32_t kRecordEntry = 0;
inline constexpr std::uint64_t kMostRecordBytes =
    1280 * base::MiB;  ///< more than all contents of open files (OpenFiles::kMostContentBytes)
std::vector<segment::RegionEntry> entries_of(std::uint64_t record_bytes, const ProcessImage& image);
/// Of all entries together.
std::uint64_t bytes_of(const std::vector<segment::RegionEntry>& entries);

/// How long chunks of an image of so many bytes are, where nobody chose: who waits for a page of a process that runs
/// already waits for its chunk.
std::uint64_t chunk_bytes_of_image(std::uint64_t bytes);

/// Bytes of pages of an image, in the order of its lists.
class PageOrder {
 public:
  explicit PageOrder(const std::vector<NodePages>& pages);
  std::uint64_t bytes() const { return begins_.empty() ? 0 : begins_.back() + runs_.back().pages * kPageBytes; }
  /// Calls take(address, length) for the memory of bytes [begin, begin + length), until one fails.
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
  std::vector<std::uint64_t> begins_;  // where the bytes of each run begin
};

/// Of its pages those are left out that hold only zeros, as far as at most `most_runs` of them all are left. The
/// process stands still.
ProcessImage without_zeros(pid_t process, ProcessImage image, std::size_t most_runs = kMostPageRuns);

/// The process is held while this is used. Of the pages of `image` those are left out that hold only zeros.
class ImageSource : public capture::Source {
 public:
  ImageSource(pid_t process, ProcessImage image);
  struct Ready {};  ///< nothing is to be left out of it any more
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
