#pragma once
// What is stored of one process, or of a tree of them, as the target of a restore: which it is shows when it comes.
#include "process/image_target.hpp"
#include "process/process_store.hpp"
#include "process/tree_target.hpp"

namespace perdure::process {

/// All calls by one thread. As ImageTarget and TreeTarget.
class AnyTarget : public capture::Target {
 public:
  /// As of ImageTarget, of each process; `is_root`: of the one that the others descend from, or of the only one.
  using Choose = std::function<base::Status(ProcessImage& image, Operations& operations, bool is_root)>;
  AnyTarget(const Choose& choose, const ResumeChoices& choices);
  AnyTarget(const AnyTarget&) = delete;
  AnyTarget& operator=(const AnyTarget&) = delete;

  /// As of ImageTarget. The pages of several processes come before they run, and a note says so.
  void be_lazy(Guard& guard, std::function<void(const segment::VersionId&)> runs);
  /// As of ImageTarget. An image of several processes borrows nothing.
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
  /// What there is, and what it is called; without its version and times.
  ResumeReport report() const;

 private:
  bool is_root(const ProcessImage& image) const { return &image == &several_.image().processes.front(); }

  Numbering numbering_;
  bool is_tree_ = false, is_lazy_ = false;
  ImageTarget one_;
  TreeTarget several_;
};

}  // namespace perdure::process
