#pragma once
// A new process as the target of a restore: it is begun when the record is there, and gets its pages as they come, each
// verified with the rest of its chunk. (docs/adr/0059)
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

/// All calls by one thread. Before finish() nothing of the image has run; what was begun and is not released is killed.
class ImageTarget : public capture::Target {
 public:
  /// `choose` sees the record of an image before a process is begun, and may refuse it or change it; what it adds to
  /// the operations the new process carries out first.
  using Choose = std::function<base::Status(ProcessImage& image, Operations& operations)>;
  explicit ImageTarget(Choose choose, RestoreChoices files = {}, AffinityChoices affinity = {},
                       Numbering numbering = Numbering::everybody)
      : choose_(std::move(choose)), files_(std::move(files)), affinity_(affinity), numbering_(numbering) {}

  /// The process is to run as soon as it can, and gets the rest of its pages afterwards. It is held to `guard`, which
  /// kills it when this process ends before. Where the kernel does not let us, a note says so, and all pages come
  /// first.
  void be_lazy(Guard& guard, std::function<void(const segment::VersionId&)> runs) {
    lazy_.emplace(guard, std::move(runs));
  }
  /// Where pages come from that its image has not itself. Without it such an image is refused.
  using Borrow = std::function<base::Result<std::unique_ptr<LenderPages>>(const segment::VersionId& borrower,
                                                                          const Increment& increment)>;
  void borrow_by(Borrow borrow) { borrow_ = std::move(borrow); }
  /// It ran before its pages were there.
  bool runs() const { return lazy_ && lazy_->runs(); }
  /// It did, and has ended since.
  bool has_ended() const { return lazy_ && lazy_->has_ended(); }

  /// Of what came so far nothing is left. Not of one that runs.
  void drop();
  void comes_from(const segment::VersionId& id) override;
  std::optional<std::uint64_t> wanted() override;
  /// As soon as the process is made, which is a copy of this one: who maps memory here meanwhile takes its places.
  bool is_read_ahead() const override { return !lazy_ && process_.has_value(); }
  base::Result<std::vector<capture::ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override;
  /// Call it when write() got all: the process is whole then, stands still, and has its files cut back if asked.
  base::Status finish();
  base::Status release();
  const ProcessImage& image() const { return *image_; }
  /// Numbers that the new process has for us, which are not the image's where it has a name space of its own.
  struct Made {
    pid_t process = 0;
    pid_t child = 0;  ///< of ours: ends when it does, with its status
  };
  const Made& made() const { return made_; }
  /// For people: files that changed, and the like.
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

  /// The image that comes: which it is, what of it others have, and which files are to be cut back for it.
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
  std::uint64_t written_ = 0;  // of all
  std::unique_ptr<ProcessImage> image_;
  std::optional<PageWriter> writer_;
  std::optional<NewProcess> process_;
  Made made_;
  std::optional<LazyResume> lazy_;
};

/// PERDURE_INTERNAL when not all of an image was written: whoever reads a version has to bring all of it.
base::Status came_whole(bool whole);

/// What a new process does by itself: directory, umask, handlers of signals, and the like.
void add_operations(const ProcessImage& image, Operations& operations);

}  // namespace perdure::process
