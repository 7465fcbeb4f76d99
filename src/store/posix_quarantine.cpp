// A segment is set aside in these steps, so that it is in its place or in quarantine, and never in quarantine without
// its report:
//   1. Make <root>/.quarantine (if that is another user's: <root>/.quarantine-<number of the user>), synced into
//      <root>.
//   2. Write the report <name>.<version>.<file name>.json, synced.
//   3. Rename the segment to <name>.<version>.<file name>.moving; if another one was published in its place since it
//      was read, put that back.
//   4. Rename it to <name>.<version>.<file name>, and sync both directories.
//   5. Remove the names that this file has in versions that borrowed it: these are incomplete from then on.
// A segment whose own version was removed is set aside under the name that a borrower has for it. Step 5 compares
// inodes, so that borrowers of an earlier file of that name keep it. The cleaner repeats step 5. After a death between
// 3 and 4 it puts back an intact segment. A taken name gets a number: nothing in quarantine is overwritten.
#include "store/posix_quarantine.hpp"

#include <cstring>
#include <functional>
#include <optional>

#include "os/file.hpp"
#include "segment/file_source.hpp"
#include "segment/reader.hpp"
#include "store/posix_removal.hpp"
#include "store/set_aside.hpp"

namespace perdure::store {
namespace {

using base::Status;

Status write_report(const os::Directory& directory, const std::string& name, const std::string& text) {
  PERDURE_TRY(os::File file, directory.open_file(name, os::Open::create));
  PERDURE_CHECK(file.truncate(0));
  PERDURE_CHECK(file.write(0, base::as_bytes(text)));
  return file.sync();
}

base::Result<std::string> free_name(const os::Directory& directory, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2;; ++number) {
    PERDURE_TRY(const bool taken, directory.contains(name));
    PERDURE_TRY(const bool moving, directory.contains(name + kMoving));
    if (!taken && !moving) return name;
    name = wanted + "." + std::to_string(number);
  }
}

// Tells whether the file is the one that was read; true if the reader gave no identity.
base::Result<bool> is_the_one(const os::Directory& directory, const std::string& name, const std::string& identity) {
  if (identity.empty()) return true;
  PERDURE_TRY(const auto file, directory.open_file(name, os::Open::read));
  PERDURE_TRY(const auto found, file.identity());
  return segment::file_identity(found) == identity;
}

// A cleaner has already handled a file that is gone.
Status unless_gone(Status renamed) { return renamed || renamed.error().code != PERDURE_NOT_FOUND ? renamed : Status(); }

base::Error another_one(const std::string& path) {
  return {PERDURE_NOT_FOUND, path, "it was written anew since it was read; nothing was set aside", "", false};
}

}  // namespace

base::Result<std::vector<QuarantinedSegment>> quarantined_segments(const PosixPlace& place, const std::string& name) {
  std::vector<QuarantinedSegment> found;
  auto quarantines = place.quarantines(name);
  if (!quarantines && quarantines.error().code == PERDURE_NOT_FOUND) return found;
  if (!quarantines) return base::fail(quarantines.error());
  for (const os::Directory& quarantine : *quarantines) {
    PERDURE_TRY(const auto entries, quarantine.list());
    for (const os::Entry& entry : entries) {
      if (entry.directory || entry.name.ends_with(".json")) continue;
      if (auto segment = parse_quarantined(entry.name, name)) {
        segment->path = quarantine.path_of(entry.name);
        found.push_back(std::move(*segment));
      }
    }
  }
  return found;
}

namespace {

base::Result<bool> is_aside(const PosixPlace& place, const std::string& checkpoint, const std::string& file) {
  PERDURE_TRY(const auto quarantines, place.quarantines(checkpoint));
  for (const os::Directory& quarantine : quarantines) {
    PERDURE_TRY(const bool there, quarantine.contains(file));
    if (there) return true;
  }
  return false;
}

/// A name of a segment in a version's directory.
struct NamedSegment {
  os::Directory directory;
  std::string name;
};

/// Calls `take` with each name that versions of `checkpoint` have for segments that they borrowed, until that gives
/// false. It may take the directory then.
Status each_borrowed(const PosixPlace& place, const std::string& checkpoint,
                     const std::function<base::Result<bool>(os::Directory&, const std::string&)>& take) {
  PERDURE_TRY(const auto name, name_if_there(place, checkpoint));
  if (!name) return {};
  PERDURE_TRY(const auto versions, name->list());
  for (const os::Entry& entry : versions) {
    const auto number = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (!number) continue;
    PERDURE_TRY(auto version, version_if_there(place, {checkpoint, *number, {}}));
    PERDURE_TRY(const auto files, list_if_there(version));
    for (const os::Entry& file : files) {
      if (file.directory || !parse_borrowed(file.name)) continue;
      PERDURE_TRY(const bool goes_on, take(*version, file.name));
      if (!goes_on) return {};
    }
  }
  return {};
}

bool is_of(const std::string& borrowed, std::uint64_t version, const std::string& file) {
  const auto parsed = parse_borrowed(borrowed);
  const auto& lent = parsed->segment.file;
  return parsed->segment.version == version && segment::file_name(lent.index, lent.count, lent.attempt) == file;
}

/// Looks in its own version's directory, or in that of a borrower.
base::Result<std::optional<NamedSegment>> find_named(const PosixPlace& place, const segment::VersionId& id,
                                                     const std::string& file, const std::string& identity) {
  PERDURE_TRY(auto version, version_if_there(place, id));
  if (version) {
    PERDURE_TRY(const bool there, version->contains(file));
    if (there) return std::optional(NamedSegment{std::move(*version), file});
  }
  std::optional<NamedSegment> found;
  const auto take = [&](os::Directory& directory, const std::string& name) -> base::Result<bool> {
    if (!is_of(name, id.version, file)) return true;
    PERDURE_TRY(const bool right, is_the_one(directory, name, identity));
    if (right) found = NamedSegment{std::move(directory), name};
    return !right;
  };
  PERDURE_CHECK(each_borrowed(place, id.name, take));
  return found;
}

/// Step 5.
Status remove_lent_names(const PosixPlace& place, const os::Directory& quarantine, const QuarantinedSegment& aside,
                         const std::string& aside_name) {
  const std::string file = segment::file_name(aside.index, aside.count, aside.id.attempt);
  const auto damaged = quarantine.identity_of(aside_name);
  if (!damaged && damaged.error().code == PERDURE_NOT_FOUND) return {};
  PERDURE_CHECK(damaged);
  return each_borrowed(place, aside.id.name,
                       [&](const os::Directory& directory, const std::string& name) -> base::Result<bool> {
                         if (!is_of(name, aside.id.version, file)) return true;
                         const auto found = directory.identity_of(name);
                         if (!found || found->device != damaged->device || found->inode != damaged->inode) return true;
                         PERDURE_CHECK(directory.remove_file(name));
                         PERDURE_CHECK(directory.sync());
                         return true;
                       });
}

}  // namespace

Status quarantine_segment(const PosixPlace& place, const SegmentRef& segment, const segment::VersionId& id,
                          const base::Error& why) {
  const std::string name = segment::file_name(segment.index, segment.count, segment.attempt);
  const std::string wanted = quarantined_name(id, name);
  PERDURE_TRY(const auto found, find_named(place, id, name, segment.identity));
  if (!found) {
    PERDURE_TRY(const bool done, is_aside(place, id.name, wanted));
    if (done) return {};  // another process found the same damage
    return base::fail(PERDURE_NOT_FOUND, place.layout().version_directory(id) + "/" + name,
                      "no such segment to set aside");
  }
  const os::Directory& version = found->directory;
  const std::string path = version.path_of(found->name);
  PERDURE_TRY(const bool same, is_the_one(version, found->name, segment.identity));
  if (!same) return base::fail(another_one(path));
  PERDURE_TRY(const auto quarantine, place.make_quarantine(id.name));  // 1
  PERDURE_TRY(const std::string aside, free_name(quarantine, wanted));
  // Step 2. On a full device it is set aside without a report: left in its place it would keep its version's number
  // taken.
  const Status reported = write_report(quarantine, aside + ".json", aside_report(path, id, why));
  if (!reported && reported.error().code != PERDURE_NO_SPACE) return reported;
  if (!reported) PERDURE_CHECK(quarantine.remove_file(aside + ".json"));
  const std::string moving = aside + kMoving;
  PERDURE_CHECK(version.rename_to_free(found->name, quarantine, moving));  // 3
  PERDURE_TRY(const bool right, is_the_one(quarantine, moving, segment.identity));
  if (!right) {  // published between the look and the rename
    PERDURE_CHECK(unless_gone(quarantine.rename_to_free(moving, version, found->name)));
    PERDURE_CHECK(version.sync());
    if (reported) PERDURE_CHECK(quarantine.remove_file(aside + ".json"));
    return base::fail(another_one(path));
  }
  PERDURE_CHECK(unless_gone(quarantine.rename_to_free(moving, quarantine, aside)));  // 4
  PERDURE_CHECK(quarantine.sync());
  PERDURE_CHECK(version.sync());
  PERDURE_CHECK(remove_lent_names(place, quarantine, {id, {}, segment.index, segment.count}, aside));  // 5
  return remove_if_empty(place, id);
}

namespace {

// True when it was intact and is in its place again.
base::Result<bool> put_back(const PosixPlace& place, const segment::VersionId& id, const os::Directory& quarantine,
                            const std::string& moving, const std::string& file) {
  PERDURE_TRY(os::File opened, quarantine.open_file(moving, os::Open::read));
  PERDURE_TRY(const auto source, segment::open_file(std::move(opened), segment::Cached::no));
  if (!segment::verify(*source, nullptr).empty()) return false;
  PERDURE_TRY(const auto version, place.make_version(id));
  const Status back = quarantine.rename_to_free(moving, version, file);
  if (!back && back.error().code == PERDURE_EXISTS) return false;
  PERDURE_CHECK(back);
  PERDURE_CHECK(version.sync());
  return true;
}

Status finish(const PosixPlace& place, const segment::VersionId& id, const os::Directory& quarantine,
              const std::string& moving) {
  const std::string aside = moving.substr(0, moving.size() - std::strlen(kMoving));
  const std::size_t before = quarantined_name(id, "").size();
  const std::string file = aside.substr(before, aside.rfind(kSegmentEnding) + kSegmentEnding.size() - before);
  const auto whole = put_back(place, id, quarantine, moving, file);
  if (!whole && whole.error().code == PERDURE_NOT_FOUND) return {};  // the process that moves it goes on with it
  PERDURE_CHECK(whole);
  if (*whole) PERDURE_CHECK(quarantine.remove_file(quarantine_report(aside)));
  if (!*whole) PERDURE_CHECK(unless_gone(quarantine.rename_to_free(moving, quarantine, aside)));
  return quarantine.sync();
}

}  // namespace

Status finish_quarantine(const PosixPlace& place, const std::string& name) {
  PERDURE_TRY(const auto quarantines, place.quarantines(name));
  for (const os::Directory& quarantine : quarantines) {
    PERDURE_TRY(const auto entries, quarantine.list());
    for (const os::Entry& entry : entries) {
      if (entry.directory || entry.name.ends_with(".json")) continue;
      const auto segment = parse_quarantined(entry.name, name);
      if (!segment) continue;
      if (entry.name.ends_with(kMoving))
        PERDURE_CHECK(finish(place, segment->id, quarantine, entry.name));
      else
        PERDURE_CHECK(remove_lent_names(place, quarantine, *segment, entry.name));
    }
  }
  return {};
}

}  // namespace perdure::store
