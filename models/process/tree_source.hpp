#pragma once
// Captures a tree that stands still: one record, then the pages of each process, as ImageSource has them.
#include <memory>

#include "process/image_source.hpp"
#include "process/tree_image.hpp"

namespace perdure::process {

std::vector<segment::RegionEntry> entries_of_tree(std::uint64_t record_bytes, const TreeImage& tree);
/// Returns whether the stored entries have the form of entries_of_tree().
bool is_tree(const std::vector<segment::RegionEntry>& stored);

/// The processes must be held while this is used. Like ImageSource, it leaves out pages of zeros.
class TreeSource : public capture::Source {
 public:
  explicit TreeSource(TreeImage tree);
  base::Result<capture::Description> describe() override { return description_; }
  capture::Manner manner() const override { return {chunks_at_once(), true}; }
  base::Status read(capture::ChunkRange range, const std::function<base::Status(base::ConstByteSpan)>& take) override;

 private:
  struct Process {
    std::unique_ptr<ImageSource> source;
    std::uint64_t record_bytes = 0;    // of its own source
    std::uint64_t begin = 0, end = 0;  // of its pages, among all bytes of the tree
  };
  std::vector<std::byte> record_;
  capture::Description description_;
  std::vector<Process> processes_;
};

}  // namespace perdure::process
