#pragma once
// Restores an image to a new process. The process is begun when the record has come, and gets its pages as they come.
// Each page was verified with the rest of its chunk. (docs/adr/0059)
#include <functional>
#include <optional>

#include "capture/target.hpp"
#include "process/image_source.hpp"
#include "process/lazy_resume.hpp"
#include "process/lender_pages.hpp"
#include "process/new_process.hpp"
#include "process/page_writer.hpp"
#include "process/restored_descriptors.hpp"

namespace perdure::process {

/// One thread makes all calls. The image does not run before finish(). A process that is not released is killed.
class ImageTarget : public capture::Target {
 public:
  /// Is called with the record of an image before a process is begun. It may refuse or change the image. The new
  /// process first carries out the operations that this call adds.
  using Choose = std::function<base::Status(ProcessImage& image, Operations& operations)>;
  explicit ImageTarget(Choose choose, RestoreChoices files = {}, AffinityChoices affinity = {},
                       Numbering numbering = Numbering::everybody)
      : choose_(std::move(choose)), files_(std::move(files)), affinity_(affinity), numbering_(numbering) {}

  /// The process runs as soon as it can, and gets the rest of its pages afterwards. `guard` kills it if this process
  /// ends before. If the kernel does not permit that, a note says so and all pages come first.
  void be_lazy(Guard& guard, std::function<void(const segment::VersionId&)> runs) {
    lazy_.emplace(guard, std::move(runs));
  }
  /// Reads the pages that an image borrows. Without it, an image that borrows is refused.
  using Borrow = std::function<base::Result<std::unique_ptr<LenderPages>>(const segment::VersionId& borrower,
                                                                          const Increment& increment)>;
  void borrow_by(Borrow borrow) { borrow_ = std::move(borrow); }
  /// Returns whether the process ran before all its pages had come.
  bool runs() const { return lazy_ && lazy_->runs(); }
  /// Returns whether a process that ran early has ended since.
  bool has_ended() const { return lazy_ && lazy_->has_ended(); }

  /// Discards all that has come. Not for a process that runs.
  void drop();
  void comes_from(const segment::VersionId& id) override;
  std::optional<std::uint64_t> wanted() override;
  /// True as soon as the process is made. The process is a copy of this one, so memory that this process maps later may
  /// be in its way.
  bool is_read_ahead() const override { return !lazy_ && process_.has_value(); }
  base::Result<std::vector<capture::ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override;
  /// Call it after write() got everything. The process is then whole and stands still; its files are cut back if asked.
  base::Status finish();
  base::Status release();
  const ProcessImage& image() const { return *image_; }
  /// The numbers of the new process in our name space. They differ from the image's if it has a name space of its own.
  struct Made {
    pid_t process = 0;
    pid_t child = 0;  ///< the child of ours that ends with its status
  };
  const Made& made() const { return made_; }
  /// For people: changed files and the like.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  base::Status begin();
  void place_here();
  void begin_lazily();
  base::Status write_pages(std::uint64_t begin, base::ConstByteSpan bytes);
  base::Status finish_process();
  base::Status cut_files_back();
  base::Status follow_lazily();
  base::Status run_lazily();
  base::Status find_lent();
  base::Status write_lent();

  /// The image that is coming: its version, its borrowed pages, and the files to cut back for it.
  struct Coming {
    segment::VersionId id;
    std::unique_ptr<LenderPages> lent;
    GrownFiles grown;
  };

  Choose choose_;
  RestoreChoices files_;
  AffinityChoices affinity_;
  Numbering numbering_;
  Borrow borrow_;
  Coming coming_;
  std::vector<std::string> notes_;
  std::vector<segment::RegionEntry> entries_;
  std::vector<std::byte> record_;
  std::uint64_t written_ = 0;  // of all entries
  std::unique_ptr<ProcessImage> image_;
  std::optional<PageWriter> writer_;
  std::optional<NewProcess> process_;
  Made made_;
  std::optional<LazyResume> lazy_;
};

/// Returns PERDURE_INTERNAL if an image was not written completely: the reader of a version must bring all of it.
base::Status came_whole(bool whole);

/// Adds calls by which a new process sets its directory, umask, signal handlers and the like.
void add_operations(const ProcessImage& image, Operations& operations);

}  // namespace perdure::process
