#pragma once
// The newest image of a name that its store has, and what a new one borrows of it. (docs/adr/0041)
#include <memory>
#include <optional>

#include "config/config.hpp"
#include "process/block_marks.hpp"
#include "process/increment.hpp"
#include "store/store.hpp"

namespace perdure::process {

/// All calls by one thread.
class EarlierImage {
 public:
  /// Where there is none that can be borrowed from, the next one is whole, and `note` says why; nothing when that is
  /// because nothing was captured yet.
  static base::Result<std::unique_ptr<EarlierImage>> open(const config::Config& config, const std::string& name,
                                                          unsigned most_lenders);
  const std::string& note() const { return note_; }

  /// What of `image` has to be stored, whose blocks `read` has.
  base::Result<ProcessImage> shorten(ProcessImage image, const ReadBlock& read);
  /// What that borrowed stays as long as attempt `borrower`.
  base::Status lend_to(const segment::VersionId& borrower);
  /// The last lend_to() failed: from now on nothing is borrowed.
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
  std::vector<store::BorrowedSegment> segments_;  // its own, and what it borrows
  Increment lent_;                                // of what was shortened last
  bool failed_ = false;
};

}  // namespace perdure::process
