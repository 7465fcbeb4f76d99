#pragma once
// Finds the newest stored image of a name, so that a new image can borrow from it. (docs/adr/0041)
#include <memory>
#include <optional>

#include "config/config.hpp"
#include "process/block_marks.hpp"
#include "process/increment.hpp"
#include "store/store.hpp"

namespace perdure::process {

/// One thread makes all calls.
class EarlierImage {
 public:
  /// If no image can be borrowed from, the next image is whole and `note` has the reason. `note` stays empty if there
  /// is no earlier capture.
  static base::Result<std::unique_ptr<EarlierImage>> open(const config::Config& config, const std::string& name,
                                                          unsigned most_lenders);
  const std::string& note() const { return note_; }

  /// Returns `image` without the pages that it can borrow. `read` copies the image's blocks.
  base::Result<ProcessImage> shorten(ProcessImage image, const ReadBlock& read);
  /// Keeps the segments borrowed by the last shorten() for as long as attempt `borrower` exists.
  base::Status lend_to(const segment::VersionId& borrower);
  /// Returns whether the last lend_to() failed. If so, nothing is borrowed from now on.
  bool gave_up();

 private:
  explicit EarlierImage(std::unique_ptr<store::Store> store, unsigned most_lenders)
      : store_(std::move(store)), most_lenders_(most_lenders) {}
  base::Status read(const std::string& name);
  base::Result<store::BorrowedSegment> segment_of(const segment::Borrowed& wanted) const;

  std::unique_ptr<store::Store> store_;
  unsigned most_lenders_;
  std::string note_;
  std::optional<StoredImage> before_;
  std::vector<store::BorrowedSegment> segments_;  // that image's own segment, and those that it borrows
  Increment lent_;                                // of the last shorten()
  bool failed_ = false;
};

}  // namespace perdure::process
