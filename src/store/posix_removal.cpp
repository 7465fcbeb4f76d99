// An attempt is removed in these steps, so that no reader ever takes the rest of it for a complete version, whenever
// the process dies:
//   1. Make the directory <name>/.retired-<version>-<attempt>: this hides the attempt, in one step.
//   2. Sync <name>: from here on it stays hidden.
//   3. Delete the attempt's segments from <name>/<version>.
//   4. Sync <name>/<version>, so that no segment can come back once the marker is gone.
//   5. Delete <name>/<version> if it is empty.
//   6. Delete the marker, sync <name>.
// The marker is not the renamed version directory, because other attempts at the same version may live there or be
// written there at this moment. A process that finds a marker (clean, or a writer of the same attempt) goes on at step
// 3.
//
// Forgetting a name hides all its attempts up to a time in the same way. The directory <name>/.forgotten-<time> is made
// and synced first; then earlier ones and the attempts are deleted. (The cleaner does that if the process dies.) The
// directory stays, because a node that cannot be reached now may come back with forgotten versions.
#include "store/posix_removal.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "store/posix_borrowed.hpp"

namespace perdure::store {
namespace {

constexpr int kMostRounds = 100;  // each one but the last was in vain because another writer came and went

using base::Result;
using base::Status;

Result<std::optional<os::Directory>> if_there(Result<os::Directory> opened) {
  if (!opened && opened.error().code == PERDURE_NOT_FOUND) return std::nullopt;
  if (!opened) return base::fail(opened.error());
  return std::optional(std::move(*opened));
}

}  // namespace

Result<std::vector<os::Entry>> list_if_there(const std::optional<os::Directory>& directory) {
  if (!directory) return std::vector<os::Entry>();
  auto entries = directory->list();
  if (!entries && entries.error().code == PERDURE_NOT_FOUND) return std::vector<os::Entry>();
  return entries;
}

namespace {

Result<std::vector<std::string>> segments_of(const std::optional<os::Directory>& version,
                                             const segment::VersionId& id) {
  PERDURE_TRY(auto entries, list_if_there(version));
  std::vector<std::string> files;
  for (const os::Entry& entry : entries)
    if (auto parsed = segment::parse_file_name(entry.name); parsed && parsed->attempt == id.attempt)
      files.push_back(entry.name);
  for (const os::Entry& entry : entries)  // after the segments, which need them
    if (auto parsed = parse_borrowed(entry.name); parsed && parsed->borrower == id.attempt) files.push_back(entry.name);
  return files;
}

Status delete_segments(const PosixPlace& place, const segment::VersionId& id) {
  PERDURE_TRY(const auto version, version_if_there(place, id));
  PERDURE_TRY(auto files, segments_of(version, id));
  if (files.empty()) return {};
  for (const std::string& file : files) {
    PERDURE_CHECK(version->remove_file(file));  // 3
    os::crash_point(os::CrashPoint::retire_half_deleted);
  }
  return version->sync();  // 4
}

Status clean_version(const PosixPlace& store_place, const segment::VersionId& place, const Abandoned& abandoned) {
  PERDURE_TRY(const auto version, version_if_there(store_place, place));
  PERDURE_TRY(auto entries, list_if_there(version));
  PERDURE_TRY(bool deleted, version ? clean_borrowed(*version, place, abandoned) : false);
  for (const os::Entry& entry : entries) {
    const auto parsed = parse_temporary(entry.name);
    if (!parsed || !abandoned({place.name, place.version, parsed->attempt}, parsed->index)) continue;
    PERDURE_TRY(const bool removed, remove_abandoned(*version, entry.name));
    deleted = deleted || removed;
  }
  if (deleted || entries.empty()) return remove_if_empty(store_place, place);
  return {};
}

}  // namespace

Result<std::optional<os::Directory>> name_if_there(const PosixPlace& place, const std::string& name) {
  return if_there(place.name(name));
}

Result<std::optional<os::Directory>> version_if_there(const PosixPlace& place, const segment::VersionId& id) {
  return if_there(place.version(id));
}

Result<bool> remove_abandoned(const os::Directory& version, const std::string& temporary) {
  auto file = version.open_file(temporary, os::Open::read_write);
  if (!file && file.error().code == PERDURE_NOT_FOUND) return false;
  // A file that cannot be opened or locked here is judged by its name alone.
  if (file)
    if (const auto locked = file->try_lock(); !locked && locked.error().code == PERDURE_BUSY) return false;
  PERDURE_CHECK(version.remove_file(temporary));
  return true;
}

Result<std::vector<std::string>> temporaries_of(const PosixPlace& place, Written written, const os::Directory& version,
                                                const segment::VersionId& id, std::uint32_t index,
                                                std::uint32_t count) {
  PERDURE_TRY(const auto entries, version.list());
  std::vector<std::string> found;
  for (const os::Entry& entry : entries) {
    const auto parsed = parse_temporary(entry.name);
    if (parsed && parsed->attempt == id.attempt && parsed->index == index && parsed->count == count &&
        (written == Written::by_anybody || is_temporary_of(place.layout().writer(), entry.name)))
      found.push_back(entry.name);
  }
  return found;
}

// Writers come and go meanwhile. A directory that is not empty stays; the remover of its last file removes it, too.
Status remove_if_empty(const PosixPlace& place, const segment::VersionId& id) {
  PERDURE_TRY(const auto name, name_if_there(place, id.name));
  if (!name) return {};
  for (int round = 0; round < kMostRounds; ++round) {
    PERDURE_TRY(const auto version, version_if_there(place, id));  // anew: it may be another one under that number
    if (!version) return {};
    PERDURE_TRY(const auto entries, list_if_there(version));
    if (!entries.empty()) return {};
    PERDURE_TRY(const bool removed, name->remove_if_empty(std::to_string(id.version)));
    if (removed) return name->sync();
  }
  return {};  // it is never empty for long: then it stays
}

Status finish_removal(const PosixPlace& place, const segment::VersionId& id) {
  PERDURE_TRY(const auto name, name_if_there(place, id.name));
  if (!name) return {};
  PERDURE_TRY(bool marked, name->contains(retired_mark(id)));
  if (!marked) return {};
  PERDURE_CHECK(delete_segments(place, id));
  PERDURE_CHECK(remove_if_empty(place, id));                // 5
  PERDURE_CHECK(name->remove_directory(retired_mark(id)));  // 6
  return name->sync();
}

Status remove_attempt(const PosixPlace& place, const segment::VersionId& id) {
  PERDURE_TRY(const auto version, version_if_there(place, id));
  PERDURE_TRY(auto files, segments_of(version, id));
  if (!files.empty()) {
    PERDURE_TRY(const auto name, place.name(id.name));
    PERDURE_CHECK(name.make_directory(retired_mark(id)));  // 1
    PERDURE_CHECK(name.sync());                            // 2
    os::crash_point(os::CrashPoint::retire_hidden);
  }
  return finish_removal(place, id);
}

std::uint64_t latest_forgotten(const std::vector<os::Entry>& entries) {
  std::uint64_t latest = 0;
  for (const os::Entry& entry : entries)
    if (entry.directory) latest = std::max(latest, parse_forgotten_mark(entry.name).value_or(0));
  return latest;
}

Result<std::uint64_t> forgotten(const PosixPlace& place, const std::string& name) {
  PERDURE_TRY(const auto directory, name_if_there(place, name));
  PERDURE_TRY(const auto entries, list_if_there(directory));
  return latest_forgotten(entries);
}

Status forget_name(const PosixPlace& place, const std::string& name, std::uint64_t until_ns) {
  PERDURE_TRY(const auto directory, place.make_name(name));
  PERDURE_CHECK(directory.make_directory(forgotten_mark(until_ns)));
  PERDURE_CHECK(directory.sync());
  return clean_name(place, name, [until_ns](const segment::VersionId& id, std::uint32_t) {
    return id.attempt.created_ns <= until_ns;
  });
}

namespace {

// Deletes everything that a mark hides, then the marks before it. clean_version() removes the directories that are
// empty then.
Status finish_forgetting(const PosixPlace& store_place, const os::Directory& name, const std::string& checkpoint,
                         const std::vector<os::Entry>& entries) {
  const std::uint64_t forgotten_ns = latest_forgotten(entries);
  if (forgotten_ns == 0) return {};
  PERDURE_CHECK(name.sync());  // the mark's maker may have died before
  for (const os::Entry& entry : entries) {
    const auto number = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (!number) continue;
    const segment::VersionId place{checkpoint, *number, {}};
    PERDURE_TRY(const auto version, version_if_there(store_place, place));
    PERDURE_TRY(const auto files, list_if_there(version));
    for (const os::Entry& file : files) {
      const auto parsed = segment::parse_file_name(file.name);
      const auto borrowed = parse_borrowed(file.name);
      const bool goes = (parsed && parsed->attempt.created_ns <= forgotten_ns) ||
                        (borrowed && borrowed->borrower.created_ns <= forgotten_ns);
      if (goes) PERDURE_CHECK(version->remove_file(file.name));
    }
  }
  for (const os::Entry& entry : entries) {
    const auto mark = entry.directory ? parse_forgotten_mark(entry.name) : std::nullopt;
    if (mark && *mark < forgotten_ns) PERDURE_CHECK(name.remove_directory(entry.name));
  }
  return {};
}

}  // namespace

Status clean_name(const PosixPlace& place, const std::string& name, const Abandoned& abandoned) {
  PERDURE_TRY(const auto directory, name_if_there(place, name));
  if (!directory) return {};
  PERDURE_TRY(auto entries, list_if_there(directory));
  PERDURE_CHECK(finish_forgetting(place, *directory, name, entries));
  for (const os::Entry& entry : entries) {
    if (!entry.directory) continue;
    if (auto mark = parse_retired_mark(entry.name))
      PERDURE_CHECK(finish_removal(place, {name, mark->version, mark->attempt}));
  }
  for (const os::Entry& entry : entries) {
    const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (version) PERDURE_CHECK(clean_version(place, {name, *version, {}}, abandoned));
  }
  return {};
}

}  // namespace perdure::store
