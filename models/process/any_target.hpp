#pragma once
// Restores an image of one process or of a tree. The record tells which of the two comes.
#include "process/image_target.hpp"
#include "process/process_store.hpp"
#include "process/tree_target.hpp"

namespace perdure::process {

/// One thread makes all calls. They behave as those of ImageTarget and TreeTarget.
class AnyTarget : public capture::Target {
 public:
  /// Is called for each process, as ImageTarget::Choose. `is_root`: for the root of the tree, or the only process.
  using Choose = std::function<base::Status(ProcessImage& image, Operations& operations, bool is_root)>;
  AnyTarget(const Choose& choose, const ResumeChoices& choices);
  AnyTarget(const AnyTarget&) = delete;
  AnyTarget& operator=(const AnyTarget&) = delete;

  /// As ImageTarget::be_lazy(). The pages of a tree come before it runs, and a note says so.
  void be_lazy(Guard& guard, std::function<void(const segment::VersionId&)> runs);
  /// As ImageTarget::borrow_by(). An image of a tree borrows nothing.
  void borrow_by(ImageTarget::Borrow borrow) { one_.borrow_by(std::move(borrow)); }
  bool runs() const { return one_.runs(); }
  bool has_ended() const { return one_.has_ended(); }

  void comes_from(const segment::VersionId& id) override {
    one_.comes_from(id);
    several_.comes_from(id);
  }
  std::optional<std::uint64_t> wanted() override { return is_tree_ ? std::nullopt : one_.wanted(); }
  bool is_read_ahead() const override { return is_tree_ ? several_.is_read_ahead() : one_.is_read_ahead(); }
  base::Result<std::vector<capture::ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) override;
  base::Status write(capture::ChunkRange range, base::ConstByteSpan bytes) override;
  base::Status finish() { return is_tree_ ? several_.finish() : one_.finish(); }
  base::Status release() { return is_tree_ ? several_.release() : one_.release(); }
  /// Names and counts the resumed processes, without version and times.
  ResumeReport report() const;

 private:
  bool is_root(const ProcessImage& image) const { return &image == &several_.image().processes.front(); }

  Numbering numbering_;
  bool is_tree_ = false, is_lazy_ = false;
  ImageTarget one_;
  TreeTarget several_;
};

}  // namespace perdure::process
