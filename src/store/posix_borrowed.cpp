// A version borrows segments in these steps, so that a published one has all that it needs, whenever a process dies:
//   1. It makes <name>/<version> of the borrower, each synced into its parent.
//   2. It gives the segment the name .borrowed-<attempt>-<its version>-<its file name> there, too.
//   3. It syncs that directory.
//   4. The borrower's segment is written and published as any other (posix_sink.cpp), which checks once more that 2 is
//      done.
// A borrower that dies before 4 leaves names of files, no bytes of its own. They are cleaned a day later. Until then it
// may be a capture that waits for its flush, which has no file yet that it could have locked.
#include "store/posix_borrowed.hpp"

#include <algorithm>
#include <set>

#include "os/crash_point.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "store/posix_removal.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kGivenNs = 24ULL * 3600 * 1'000'000'000;

/// Gives the directory and the file of a path within the store.
Result<std::pair<os::Directory, std::string>> find(const PosixPlace& place, const std::string& path) {
  const std::size_t slash = path.rfind('/'), before = path.rfind('/', slash - 1);
  if (slash == std::string::npos || before == std::string::npos || before != path.find('/'))
    return base::fail(PERDURE_INVALID_ARGUMENT, path, "it is no path of a segment within a store");
  const auto version = parse_version(path.substr(before + 1, slash - before - 1));
  if (!version) return base::fail(PERDURE_INVALID_ARGUMENT, path, "it is no path of a segment within a store");
  PERDURE_CHECK(place.file(path));  // it is there, and trusted
  PERDURE_TRY(os::Directory directory, place.version({path.substr(0, before), *version, {}}));
  return std::pair(std::move(directory), path.substr(slash + 1));
}

}  // namespace

Status PosixLending::borrow(const segment::VersionId& borrower, const BorrowedSegment& lent) {
  PERDURE_CHECK(segment::check_name(borrower.name));
  PERDURE_TRY(const auto found, find(place_, lent.segment.path));
  const std::string name = borrowed_name(borrower.attempt, lent.described());
  Status linked;
  // A cleaner may remove the still empty directory: then it tries again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    PERDURE_TRY(const os::Directory version, place_.make_version(borrower));  // 1
    linked = found.first.link(found.second, version, name);                   // 2
    if (!linked && linked.error().code == PERDURE_EXISTS) linked = {};
    if (linked) {
      os::crash_point(os::CrashPoint::borrow_linked);
      linked = version.sync();  // 3
    }
    if (linked || linked.error().code != PERDURE_NOT_FOUND) break;
  }
  return linked;
}

Result<std::vector<BorrowedSegment>> PosixLending::borrowed(const segment::VersionId& id) {
  PERDURE_CHECK(segment::check_name(id.name));
  std::vector<BorrowedSegment> found;
  PERDURE_TRY(const auto version, version_if_there(place_, id));
  if (!version) return found;
  auto entries = version->list();
  if (!entries && entries.error().code == PERDURE_NOT_FOUND) return found;  // removed meanwhile
  PERDURE_CHECK(entries);
  for (const os::Entry& entry : *entries) {
    const auto parsed = entry.directory ? std::nullopt : parse_borrowed(entry.name);
    if (!parsed || parsed->borrower != id.attempt) continue;
    const auto& file = parsed->segment.file;
    const std::string path = id.name + "/" + std::to_string(id.version) + "/" + entry.name;
    found.push_back({parsed->segment.version, {file.index, file.count, file.attempt, path}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.version, a.segment.attempt, a.segment.index) <
           std::tie(b.version, b.segment.attempt, b.segment.index);
  });
  return found;
}

Status check_borrowed_there(const os::Directory& version, const segment::Attempt& borrower,
                            const std::vector<segment::Borrowed>& segments) {
  for (const auto& segment : segments) {
    const std::string name = borrowed_name(borrower, segment);
    PERDURE_TRY(const bool there, version.contains(name));
    if (!there)
      return base::fail(PERDURE_INCOMPLETE, version.path_of(name),
                        "what it has of another version is not there any more",
                        "capture it again: without it this version cannot be brought back");
  }
  return {};
}

std::vector<std::string> stale_borrowed(const std::vector<os::Entry>& entries, std::uint64_t now_ns) {
  std::set<segment::Attempt> written;
  for (const os::Entry& entry : entries) {
    if (const auto segment = segment::parse_file_name(entry.name)) written.insert(segment->attempt);
    if (const auto temporary = parse_temporary(entry.name)) written.insert(temporary->attempt);
  }
  std::vector<std::string> stale;
  for (const os::Entry& entry : entries) {
    const auto parsed = parse_borrowed(entry.name);
    if (!parsed || written.contains(parsed->borrower)) continue;
    const std::uint64_t begun_ns = parsed->borrower.created_ns;
    if (begun_ns < now_ns && now_ns - begun_ns > kGivenNs) stale.push_back(entry.name);
  }
  return stale;
}

Result<bool> clean_borrowed(const os::Directory& version, const segment::VersionId& place, const Abandoned& abandoned) {
  auto entries = version.list();
  if (!entries && entries.error().code == PERDURE_NOT_FOUND) return false;
  PERDURE_CHECK(entries);
  bool deleted = false;
  for (const std::string& name : stale_borrowed(*entries, os::wall_clock_ns())) {
    if (!abandoned({place.name, place.version, parse_borrowed(name)->borrower}, 0)) continue;
    PERDURE_CHECK(version.remove_file(name));
    deleted = true;
  }
  return deleted;
}

}  // namespace perdure::store
