// Removing an attempt, so that no reader ever takes what is left of it for a complete version, whenever the process
// dies:
//   1. make the directory <name>/.retired-<version>-<attempt>: this hides the attempt, in one step
//   2. sync <name>: from here on it stays hidden
//   3. delete the attempt's segments from <name>/<version>
//   4. sync <name>/<version>, so that no segment can come back once the marker is gone
//   5. delete <name>/<version> if it is empty
//   6. delete the marker, sync <name>
// The marker is not the renamed version directory, because other attempts at the same version may live there or be
// written there at this moment. Whoever finds a marker (clean, or a writer of the same attempt) goes on at step 3.
//
// Forgetting a name hides all its attempts up to a time in the same way: the directory <name>/.forgotten-<time> is made
// and synced first, earlier ones and the attempts are deleted then (by whoever cleans, if the process dies). It stays,
// because a node that cannot be reached now may come back with what was forgotten.
#include "store/posix_removal.hpp"

#include <algorithm>

#include "os/crash_point.hpp"
#include "os/file.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

/// A directory that is not there has no entries: somebody else removed it.
Result<std::vector<os::Entry>> list_if_there(const std::string& directory) {
  auto entries = os::list_directory(directory);
  if (!entries && entries.error().code == PERDURE_NOT_FOUND) return std::vector<os::Entry>();
  return entries;
}

Result<std::vector<std::string>> segments_of(const PosixLayout& layout, const segment::VersionId& id) {
  PERDURE_TRY(auto entries, list_if_there(layout.version_directory(id)));
  std::vector<std::string> files;
  for (const os::Entry& entry : entries)
    if (auto parsed = segment::parse_file_name(entry.name); parsed && parsed->attempt == id.attempt)
      files.push_back(layout.version_directory(id) + "/" + entry.name);
  return files;
}

Status delete_segments(const PosixLayout& layout, const segment::VersionId& id) {
  PERDURE_TRY(auto files, segments_of(layout, id));
  if (files.empty()) return {};
  for (const std::string& file : files) {
    PERDURE_CHECK(os::remove_file(file));  // 3
    os::crash_point(os::CrashPoint::retire_half_deleted);
  }
  auto synced = os::sync_directory(layout.version_directory(id));  // 4
  if (!synced && synced.error().code == PERDURE_NOT_FOUND) return {};
  return synced;
}

Status clean_version(const PosixLayout& layout, const segment::VersionId& place, const Abandoned& abandoned) {
  PERDURE_TRY(auto entries, list_if_there(layout.version_directory(place)));
  bool deleted = false;
  for (const os::Entry& entry : entries) {
    const auto parsed = parse_temporary(entry.name);
    if (!parsed || !abandoned({place.name, place.version, parsed->attempt}, parsed->index)) continue;
    PERDURE_TRY(const bool removed, remove_abandoned(layout.version_directory(place) + "/" + entry.name));
    deleted = deleted || removed;
  }
  if (deleted || entries.empty()) return remove_if_empty(layout, place);
  return {};
}

}  // namespace

Result<bool> remove_abandoned(const std::string& temporary) {
  auto file = os::File::open(temporary, os::Open::read_write);
  if (!file && file.error().code == PERDURE_NOT_FOUND) return false;
  // What cannot be opened or locked here is judged by its name alone.
  if (file)
    if (const auto locked = file->try_lock(); !locked && locked.error().code == PERDURE_BUSY) return false;
  PERDURE_CHECK(os::remove_file(temporary));
  return true;
}

Result<std::vector<std::string>> temporaries_of(const PosixLayout& layout, const segment::VersionId& id,
                                                std::uint32_t index, std::uint32_t count) {
  PERDURE_TRY(const auto entries, list_if_there(layout.version_directory(id)));
  std::vector<std::string> found;
  for (const os::Entry& entry : entries) {
    const auto parsed = parse_temporary(entry.name);
    if (parsed && parsed->attempt == id.attempt && parsed->index == index && parsed->count == count &&
        is_temporary_of(layout.writer(), entry.name))
      found.push_back(layout.version_directory(id) + "/" + entry.name);
  }
  return found;
}

Status remove_if_empty(const PosixLayout& layout, const segment::VersionId& id) {
  const std::string directory = layout.version_directory(id);
  auto entries = os::list_directory(directory);
  if (!entries && entries.error().code == PERDURE_NOT_FOUND) return {};
  if (!entries) return base::fail(std::move(entries).error());
  if (!entries->empty()) return {};
  if (auto removed = os::remove_directory(directory); !removed) {
    entries = list_if_there(directory);  // a writer may have come meanwhile: then it stays
    return entries && !entries->empty() ? Status() : removed;
  }
  return os::sync_directory(layout.name_directory(id.name));
}

Status finish_removal(const PosixLayout& layout, const segment::VersionId& id) {
  PERDURE_TRY(bool marked, os::exists(layout.retired_mark(id)));
  if (!marked) return {};
  PERDURE_CHECK(delete_segments(layout, id));
  PERDURE_CHECK(remove_if_empty(layout, id));                    // 5
  PERDURE_CHECK(os::remove_directory(layout.retired_mark(id)));  // 6
  return os::sync_directory(layout.name_directory(id.name));
}

Status remove_attempt(const PosixLayout& layout, const segment::VersionId& id) {
  PERDURE_TRY(auto files, segments_of(layout, id));
  if (!files.empty()) {
    PERDURE_CHECK(os::make_directory(layout.retired_mark(id)));         // 1
    PERDURE_CHECK(os::sync_directory(layout.name_directory(id.name)));  // 2
    os::crash_point(os::CrashPoint::retire_hidden);
  }
  return finish_removal(layout, id);
}

std::uint64_t latest_forgotten(const std::vector<os::Entry>& entries) {
  std::uint64_t latest = 0;
  for (const os::Entry& entry : entries)
    if (entry.directory) latest = std::max(latest, parse_forgotten_mark(entry.name).value_or(0));
  return latest;
}

Result<std::uint64_t> forgotten(const PosixLayout& layout, const std::string& name) {
  PERDURE_TRY(const auto entries, list_if_there(layout.name_directory(name)));
  return latest_forgotten(entries);
}

Status forget_name(const PosixLayout& layout, const std::string& name, std::uint64_t until_ns) {
  const std::string directory = layout.name_directory(name);
  PERDURE_CHECK(os::make_directory(directory));
  PERDURE_CHECK(os::sync_directory(layout.root()));
  PERDURE_CHECK(os::make_directory(directory + "/" + forgotten_mark(until_ns)));
  PERDURE_CHECK(os::sync_directory(directory));
  return clean_name(layout, name, [until_ns](const segment::VersionId& id, std::uint32_t) {
    return id.attempt.created_ns <= until_ns;
  });
}

namespace {

// What a mark hides is deleted, then the marks before it.
Status finish_forgetting(const PosixLayout& layout, const std::string& name, const std::vector<os::Entry>& entries) {
  const std::uint64_t forgotten_ns = latest_forgotten(entries);
  if (forgotten_ns == 0) return {};
  PERDURE_CHECK(os::sync_directory(layout.name_directory(name)));  // who made the mark may have died before
  for (const os::Entry& entry : entries) {
    const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (!version) continue;
    const segment::VersionId place{name, *version, {}};
    PERDURE_TRY(const auto files, list_if_there(layout.version_directory(place)));
    bool deleted = false;
    for (const os::Entry& file : files) {
      const auto parsed = segment::parse_file_name(file.name);
      if (!parsed || parsed->attempt.created_ns > forgotten_ns) continue;
      PERDURE_CHECK(os::remove_file(layout.version_directory(place) + "/" + file.name));
      deleted = true;
    }
    if (deleted) PERDURE_CHECK(remove_if_empty(layout, place));
  }
  for (const os::Entry& entry : entries) {
    const auto mark = entry.directory ? parse_forgotten_mark(entry.name) : std::nullopt;
    if (mark && *mark < forgotten_ns)
      PERDURE_CHECK(os::remove_directory(layout.name_directory(name) + "/" + entry.name));
  }
  return {};
}

}  // namespace

Status clean_name(const PosixLayout& layout, const std::string& name, const Abandoned& abandoned) {
  PERDURE_TRY(auto entries, list_if_there(layout.name_directory(name)));
  PERDURE_CHECK(finish_forgetting(layout, name, entries));
  for (const os::Entry& entry : entries) {
    if (!entry.directory) continue;
    if (auto mark = parse_retired_mark(entry.name))
      PERDURE_CHECK(finish_removal(layout, {name, mark->version, mark->attempt}));
  }
  for (const os::Entry& entry : entries) {
    const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (version) PERDURE_CHECK(clean_version(layout, {name, *version, {}}, abandoned));
  }
  return {};
}

}  // namespace perdure::store
