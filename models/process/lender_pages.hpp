#pragma once
// Reads borrowed pages of an image from the store, and verifies them. (docs/adr/0041)
#include <functional>
#include <memory>
#include <vector>

#include "process/increment.hpp"
#include "reader/verified_chunks.hpp"
#include "store/store.hpp"

namespace perdure::process {

class LenderPages {
 public:
  /// Opens the lenders of attempt `borrower`, according to the store. PERDURE_INCOMPLETE: a segment is missing.
  static base::Result<std::unique_ptr<LenderPages>> open(std::unique_ptr<store::Store> store,
                                                         const segment::VersionId& borrower,
                                                         const Increment& increment);
  /// Calls `take` for all pages in the order of the increment, in pieces of at most 4 MiB. Each piece was verified with
  /// its whole chunk. Ends with the first error of `take`. PERDURE_INCOMPLETE: a needed page is damaged.
  using Take = std::function<base::Status(base::ConstByteSpan bytes)>;
  base::Status for_each(const Increment& increment, const Take& take);

 private:
  struct Source {
    segment::Borrowed wanted;
    store::SegmentRef segment;
    segment::Piece piece;
    std::string identity;  ///< of the file that was opened
  };
  LenderPages(std::unique_ptr<store::Store> store, segment::VersionId borrower);
  base::Result<Source> find(const segment::Borrowed& wanted);
  void set_aside(const Source& source, const base::Error& why);
  base::Status read(const Source& source, std::uint64_t offset, base::ByteSpan target);

  std::unique_ptr<store::Store> store_;
  segment::VersionId borrower_;
  std::vector<Source> sources_;  // for each lender; fixed before anything is read
  reader::VerifiedChunks chunks_;
};

}  // namespace perdure::process
