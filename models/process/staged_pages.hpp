#pragma once
// Copies pages of a process while it runs, and changed ones again when it stands still. The copies are then the source
// of a capture, independent of the process.
#include <vector>

#include "capture/source.hpp"
#include "os/memory_map.hpp"
#include "process/block_marks.hpp"
#include "process/gathering.hpp"
#include "process/image.hpp"
#include "process/image_source.hpp"

namespace perdure::process {

class StagedPages : public capture::Source {
 public:
  /// Makes room for pages `runs`, ascending. PERDURE_NO_SPACE: there is not enough memory for the copies.
  static base::Result<StagedPages> make(pid_t process, std::vector<PageRun> runs);
  /// Copies those of `runs` that are among its pages. Unreadable pages are left out.
  base::Status take(const std::vector<PageRun>& runs);
  /// Copies the remaining pages of `image`: those not taken yet, and those not in `unwritten` (ascending). The process
  /// must stand still; it is not read afterwards. Returns the number of bytes copied. `image` must live until
  /// describe().
  base::Result<std::uint64_t> complete(const ProcessImage& image, const std::vector<PageRun>& unwritten);

  /// A change that describe() makes to the image after leaving out zeros.
  using Change = std::function<base::Result<ProcessImage>(ProcessImage image, const ReadBlock& read)>;
  void change_by(Change change) { change_ = std::move(change); }
  /// Call it after complete(). The entries are those of an ImageSource; pages of zeros are found here.
  base::Result<capture::Description> describe() override;
  capture::Manner manner() const override { return {chunks_at_once(), true, chunk_bytes_of_image(description_.bytes)}; }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override;

 private:
  struct Copy {
    std::uint64_t address = 0;  // in the process
    base::ConstByteSpan bytes;
    std::uint64_t end() const { return address + bytes.size(); }
  };
  StagedPages(pid_t process, std::vector<PageRun> runs, os::Mapping memory);
  std::byte* copy_of(std::uint64_t address) const;
  ReadBlock read_copies() const;
  /// Calls each(part) for the copies of [begin, end), in the order of the image. `at`: where the previous call ended.
  template <class Each>
  void for_each_copy(const PageRun& pages, std::size_t& at, Each each) const;

  pid_t process_;
  std::vector<PageRun> runs_;            // their copies are consecutive
  std::vector<std::uint64_t> places_;    // offset of the copies of each run
  std::vector<PageRun> lost_;            // pages that could not be read
  os::Mapping memory_, more_;            // copies of `runs_`; copies of other pages
  const ProcessImage* image_ = nullptr;  // complete()'s
  std::vector<Copy> copies_;             // of all its pages, in its order
  std::vector<std::byte> record_;
  std::vector<base::ConstByteSpan> parts_;  // copies of the stored pages, in order
  std::vector<std::uint64_t> begins_;       // of each part, in the capture
  capture::Description description_;
  Change change_;
};

}  // namespace perdure::process
