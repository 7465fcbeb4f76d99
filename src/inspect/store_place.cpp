#include "inspect/store_place.hpp"

#include <algorithm>

#include "inspect/words.hpp"
#include "os/file.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/segment.hpp"
#include "store/name_records.hpp"
#include "store/posix_layout.hpp"

namespace perdure::inspect {
namespace {

constexpr std::size_t kMostLooked = 1000;  // entries of one directory

std::vector<os::Entry> entries_of(const std::string& directory) {
  auto entries = os::list_directory(directory);
  if (!entries) return {};
  if (entries->size() > kMostLooked) entries->resize(kMostLooked);
  return std::move(*entries);
}

bool is_version(const os::Entry& entry) { return entry.directory && store::parse_version(entry.name); }

bool holds_segments(const std::string& directory) {
  const auto entries = entries_of(directory);
  return std::any_of(entries.begin(), entries.end(), [](const os::Entry& entry) {
    return !entry.directory && segment::parse_file_name(entry.name).has_value();
  });
}

/// Tells whether a directory of a store is a checkpoint's name: its versions hold segments.
bool is_checkpoint(const std::string& directory) {
  const auto entries = entries_of(directory);
  return std::any_of(entries.begin(), entries.end(), [&](const os::Entry& entry) {
    return is_version(entry) && holds_segments(directory + "/" + entry.name);
  });
}

bool is_store(const std::string& directory) {
  const auto entries = entries_of(directory);
  return std::any_of(entries.begin(), entries.end(), [&](const os::Entry& entry) {
    return entry.directory && segment::check_name(entry.name) && is_checkpoint(directory + "/" + entry.name);
  });
}

/// Accepts entries of a store without a checkpoint: residue of removed ones, and entries of the file system.
bool may_be_in_store(const std::string& directory, const os::Entry& entry) {
  if (entry.name.starts_with(".") || entry.name == "lost+found") return true;
  if (!entry.directory) return entry.name.ends_with(".pds");  // misplaced: verify reports it
  if (!segment::check_name(entry.name)) return false;
  const auto inner = entries_of(directory + "/" + entry.name);
  return std::all_of(inner.begin(), inner.end(), [](const os::Entry& one) {
    return is_version(one) ||
           (one.directory && (store::parse_retired_mark(one.name) || store::parse_forgotten_mark(one.name))) ||
           (!one.directory && store::is_name_record(one.name));
  });
}

std::string parent_of(const std::string& directory) {
  const std::size_t slash = directory.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : directory.substr(0, slash);
}

std::string name_of(const std::string& directory) { return directory.substr(directory.rfind('/') + 1); }

bool holds_checkpoints(store::Store& store) {
  const auto names = store.names().value_or(std::vector<std::string>{});
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto listed = store.list(name);
    return listed && !listed->empty();
  });
}

base::Error inside(const std::string& directory, const std::string& store, const std::string& checkpoint) {
  return {PERDURE_NOT_FOUND, directory, "this is not a store, but the checkpoint " + checkpoint + " within one",
          "name the store, " + store + ", and the checkpoint where it can be given", false};
}

}  // namespace

std::optional<base::Error> not_a_store(store::Store& store) {
  const std::string& directory = store.properties().directory;
  if (directory.empty() || holds_checkpoints(store)) return std::nullopt;
  if (is_checkpoint(directory)) return inside(directory, parent_of(directory), name_of(directory));
  if (store::parse_version(name_of(directory)) && holds_segments(directory)) {
    const std::string name = parent_of(directory);
    return inside(directory, parent_of(name), name_of(name) + "@" + name_of(directory));
  }
  const auto entries = entries_of(directory);
  std::vector<std::string> below;
  for (const os::Entry& entry : entries)
    if (entry.directory && is_store(directory + "/" + entry.name)) below.push_back(directory + "/" + entry.name);
  if (!below.empty())
    return base::Error{PERDURE_NOT_FOUND, directory, "this is not a store: it holds no checkpoint itself",
                       "below it there is a store: " + enumerated(below), false};
  const bool possible = std::all_of(entries.begin(), entries.end(),
                                    [&](const os::Entry& entry) { return may_be_in_store(directory, entry); });
  if (possible) return std::nullopt;
  return base::Error{PERDURE_NOT_FOUND, directory, "this is not a store: it holds other files, and no checkpoint",
                     "name the directory that the program writes to; perdure config shows store.path", false};
}

}  // namespace perdure::inspect
