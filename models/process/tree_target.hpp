#pragma once
// Restores a tree to new processes. All are made, each by its parent, before any gets its memory. All are whole before
// any runs. (docs/adr/0059)
#include <memory>
#include <optional>
#include <vector>

#include "process/image_target.hpp"
#include "process/new_tree.hpp"
#include "process/tree_files.hpp"
#include "process/tree_source.hpp"

namespace perdure::process {

/// One thread makes all calls. The image does not run before finish(). Processes that are not released are killed.
class TreeTarget : public capture::Target {
 public:
  /// `choose` is called for each process, as ImageTarget::Choose.
  explicit TreeTarget(ImageTarget::Choose choose, RestoreChoices files = {}, AffinityChoices affinity = {})
      : choose_(std::move(choose)), files_(std::move(files)), affinity_(affinity) {}

  /// Discards all that has come.
  void drop();
  void comes_from(const segment::VersionId& id) override { version_ = static_cast<std::int64_t>(id.version); }
  bool is_read_ahead() const override { return processes_.has_value(); }
  base::Result<std::vector<capture::ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override;
  /// Completes the processes, as ImageTarget::finish(). They stand still afterwards.
  base::Status finish();
  base::Status release();
  const TreeImage& image() const { return *image_; }
  /// For people: changed files and the like.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  base::Status begin();
  base::Status prepare(std::vector<Operations>& operations);
  base::Status make_descriptors(std::vector<Operations>& operations);
  base::Status make_objects(const TreeFiles& files, const RestoredDescriptors& all);
  base::Status make_memory();
  void note_of(std::size_t process, const std::vector<std::string>& notes);

  ImageTarget::Choose choose_;
  RestoreChoices files_;
  AffinityChoices affinity_;
  std::vector<std::string> notes_;
  std::vector<segment::RegionEntry> entries_;
  std::vector<std::byte> record_;
  std::uint64_t written_ = 0;  // of all entries
  std::int64_t version_ = 0;   // the version that is coming
  GrownFiles grown_;
  std::unique_ptr<TreeImage> image_;
  std::vector<std::uint64_t> ends_;                // end of each process's pages, among all bytes behind the record
  std::vector<PageWriter> writers_;                // of each process
  std::vector<NewProcess::GivenObjects> objects_;  // of each process: the objects that it shares with others
  std::vector<os::Fd> shared_;                     // memory of these objects
  std::optional<NewTree> processes_;
};

}  // namespace perdure::process
