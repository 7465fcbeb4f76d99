#pragma once
// Segments of a posix store that other versions consist of, too: each is one more name of the same file, in the
// directory of the version that borrowed it, so that it goes when the last one goes who needs it. Inside this module
// only.
#include <functional>

#include "store/posix_place.hpp"

namespace perdure::store {

using Abandoned = std::function<bool(const segment::VersionId&, std::uint32_t segment_index)>;

class PosixLending : public Lending {
 public:
  /// `place` outlives it.
  explicit PosixLending(const PosixPlace& place) : place_(place) {}
  base::Status borrow(const segment::VersionId& borrower, const BorrowedSegment& lent) override;
  base::Result<std::vector<BorrowedSegment>> borrowed(const segment::VersionId& id) override;

 private:
  const PosixPlace& place_;
};

/// Whether the attempt has all of these in its directory. PERDURE_INCOMPLETE: one is missing.
base::Status check_borrowed_there(const os::Directory& version, const segment::Attempt& borrower,
                                  const std::vector<segment::Borrowed>& segments);

/// What was borrowed there by attempts that nobody writes any more and that were never published; true if it removed
/// anything. The last day's is left: nothing tells that its writer lives.
base::Result<bool> clean_borrowed(const os::Directory& version, const segment::VersionId& place,
                                  const Abandoned& abandoned);
/// The same, of the entries of its directory.
std::vector<std::string> stale_borrowed(const std::vector<os::Entry>& entries, std::uint64_t now_ns);

}  // namespace perdure::store
