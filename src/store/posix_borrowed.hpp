#pragma once
// Versions of a posix store may borrow segments of other versions. Each borrowed segment is one more name of the same
// file, in the directory of the borrower. So the file goes with its last user. Use this inside this module only.
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

/// Checks that the attempt has all of these in its directory. PERDURE_INCOMPLETE: one is missing.
base::Status check_borrowed_there(const os::Directory& version, const segment::Attempt& borrower,
                                  const std::vector<segment::Borrowed>& segments);

/// Removes segments there that were borrowed by unfinished attempts without a writer; true if it removed anything.
/// Those of the last day stay: nothing tells whether their writer lives.
base::Result<bool> clean_borrowed(const os::Directory& version, const segment::VersionId& place,
                                  const Abandoned& abandoned);
/// Gives the names to remove, from the entries of its directory.
std::vector<std::string> stale_borrowed(const std::vector<os::Entry>& entries, std::uint64_t now_ns);

}  // namespace perdure::store
