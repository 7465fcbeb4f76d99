#pragma once
// Copies of a process's pages that are taken while it runs; what was written since is copied again when it stands
// still, and then all of it is the source of a capture, whatever the process does.
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
  /// Of pages `runs`, ascending. PERDURE_NO_SPACE: there is no memory for their copies.
  static base::Result<StagedPages> make(pid_t process, std::vector<PageRun> runs);
  /// Copies those of `runs` that are among its pages. What cannot be read, it has not got.
  base::Status take(const std::vector<PageRun>& runs);
  /// The process stands still: copies what `image` has beyond what was taken and is not among `unwritten`, ascending.
  /// Nothing is read from the process afterwards. Returns how many bytes that were. `image` is there until describe().
  base::Result<std::uint64_t> complete(const ProcessImage& image, const std::vector<PageRun>& unwritten);

  /// What describe() does to the image when the zeros are left out.
  using Change = std::function<base::Result<ProcessImage>(ProcessImage image, const ReadBlock& read)>;
  void change_by(Change change) { change_ = std::move(change); }
  /// After complete(), as those of an ImageSource. Pages that hold only zeros are found here.
  base::Result<capture::Description> describe() override;
  capture::Manner manner() const override { return {chunks_at_once(), true, chunk_bytes_of_image(description_.bytes)}; }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override;

 private:
  struct Copy {
    std::uint64_t address = 0;  // there
    base::ConstByteSpan bytes;
    std::uint64_t end() const { return address + bytes.size(); }
  };
  StagedPages(pid_t process, std::vector<PageRun> runs, os::Mapping memory);
  std::byte* copy_of(std::uint64_t address) const;
  ReadBlock read_copies() const;
  /// Calls each(part) for the copies of [begin, end), in the order of the image: `at` is where those before it ended.
  template <class Each>
  void for_each_copy(const PageRun& pages, std::size_t& at, Each each) const;

  pid_t process_;
  std::vector<PageRun> runs_;            // whose copies follow each other
  std::vector<std::uint64_t> places_;    // where the copies of each run begin
  std::vector<PageRun> lost_;            // of them, which could not be read
  os::Mapping memory_, more_;            // copies; and of pages that are none of theirs
  const ProcessImage* image_ = nullptr;  // complete()'s
  std::vector<Copy> copies_;             // of all of its pages, in its order
  std::vector<std::byte> record_;
  std::vector<base::ConstByteSpan> parts_;  // of the pages that are stored, in their order
  std::vector<std::uint64_t> begins_;       // in the capture, of each
  capture::Description description_;
  Change change_;
};

}  // namespace perdure::process
