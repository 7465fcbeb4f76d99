#include "store/posix_residue.hpp"

#include <algorithm>

#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "store/name_records.hpp"
#include "store/posix_borrowed.hpp"
#include "store/set_aside.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;
constexpr std::uint64_t kMaxReport = 1 << 20;

std::uint64_t size_of(const os::Directory& directory, const std::string& file) {
  auto opened = directory.open_file(file, os::Open::read);
  if (!opened) return 0;
  return opened->size().value_or(0);
}

/// Since it was written last; 0 where that is not known, or in the future.
std::uint64_t age_of(const os::Directory& directory, const std::string& file) {
  const auto found = directory.identity_of(file);
  const std::uint64_t now_ns = os::wall_clock_ns();
  return found && found->changed_ns < now_ns ? now_ns - found->changed_ns : 0;
}

/// A segment is recognised by its ending, or by its beginning.
bool looks_like_segment(const os::Directory& directory, const std::string& file) {
  if (file.ends_with(".pds")) return true;
  auto opened = directory.open_file(file, os::Open::read);
  if (!opened) return false;
  std::vector<std::byte> block(segment::kHeaderBytes);
  return opened->read(0, block) && segment::decode_header(block, opened->path());
}

/// Files that other users hide in a shared store are their own.
Status unless_of_others(Status scanned) {
  return scanned || scanned.error().code != PERDURE_PERMISSION ? std::move(scanned) : Status();
}

class Scan {
 public:
  explicit Scan(const PosixPlace& place) : place_(place) {}

  Status quarantines() {
    PERDURE_TRY(const auto directory, place_.root());
    PERDURE_TRY(const auto entries, directory.list());
    for (const os::Entry& entry : entries)
      if (entry.directory && is_quarantine(entry.name))
        PERDURE_CHECK(unless_of_others(quarantine(directory, entry.name)));
    return {};
  }

  Status root() {
    PERDURE_TRY(const auto directory, place_.root());
    PERDURE_TRY(const auto entries, directory.list());
    for (const os::Entry& entry : entries) {
      if (entry.directory && is_quarantine(entry.name)) {
        PERDURE_CHECK(unless_of_others(quarantine(directory, entry.name)));
      } else if (entry.directory && segment::check_name(entry.name)) {
        PERDURE_CHECK(unless_of_others(name(directory, entry.name)));
      } else {
        add_stray(directory, entry, {});
      }
    }
    return {};
  }
  std::vector<Residue> found;

 private:
  Status name(const os::Directory& parent, const std::string& name) {
    PERDURE_TRY(const auto directory, place_.below(parent, name));
    PERDURE_TRY(const auto entries, directory.list());
    for (const os::Entry& entry : entries) {
      if (entry.directory ? parse_forgotten_mark(entry.name).has_value() : is_name_record(entry.name)) continue;
      const auto mark = entry.directory ? parse_retired_mark(entry.name) : std::nullopt;
      const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
      if (mark) {
        found.push_back(
            {Residue::Kind::retired, directory.path_of(entry.name), 0, name, mark->version, mark->attempt, {}});
      } else if (version) {
        PERDURE_CHECK(this->version(directory, name, *version));
      } else {
        add_stray(directory, entry, name);
      }
    }
    return {};
  }

  Status version(const os::Directory& parent, const std::string& name, std::uint64_t version) {
    const auto directory = place_.below(parent, std::to_string(version));
    if (!directory && directory.error().code == PERDURE_NOT_FOUND) return {};  // removed meanwhile
    if (!directory) return base::fail(directory.error());
    PERDURE_TRY(const auto entries, directory->list());
    const auto stale = stale_borrowed(entries, os::wall_clock_ns());
    for (const os::Entry& entry : entries) {
      if (!entry.directory && segment::parse_file_name(entry.name)) continue;
      const auto borrowed = entry.directory ? std::nullopt : parse_borrowed(entry.name);
      if (borrowed) {
        if (std::find(stale.begin(), stale.end(), entry.name) != stale.end())
          found.push_back({Residue::Kind::temporary,
                           directory->path_of(entry.name),
                           0,
                           name,
                           version,
                           borrowed->borrower,
                           {},
                           age_of(*directory, entry.name)});
        continue;
      }
      if (entry.directory || !entry.name.starts_with(kTemporaryPrefix)) {
        add_stray(*directory, entry, name);
        continue;
      }
      const auto parsed = parse_temporary(entry.name);
      found.push_back({Residue::Kind::temporary,
                       directory->path_of(entry.name),
                       size_of(*directory, entry.name),
                       name,
                       version,
                       parsed ? parsed->attempt : segment::Attempt{},
                       {},
                       age_of(*directory, entry.name)});
    }
    return {};
  }

  Status quarantine(const os::Directory& parent, const std::string& name) {
    PERDURE_TRY(const auto directory, place_.below(parent, name));
    PERDURE_TRY(const auto entries, directory.list());
    for (const os::Entry& entry : entries) {
      if (entry.directory || entry.name.ends_with(".json")) continue;
      found.push_back(
          {Residue::Kind::quarantined, directory.path_of(entry.name), size_of(directory, entry.name), {}, 0, {}, {}});
      if (auto text = directory.read_file(quarantine_report(entry.name), kMaxReport))
        found.back().report_text.assign(reinterpret_cast<const char*>(text->data()), text->size());
    }
    return {};
  }

  void add_stray(const os::Directory& directory, const os::Entry& entry, const std::string& name) {
    const bool segment = !entry.directory && looks_like_segment(directory, entry.name);
    const auto kind = segment ? Residue::Kind::misplaced : Residue::Kind::foreign;
    found.push_back(
        {kind, directory.path_of(entry.name), entry.directory ? 0 : size_of(directory, entry.name), name, 0, {}, {}});
  }

  const PosixPlace& place_;
};

}  // namespace

Result<std::vector<Residue>> find_residue(const PosixPlace& place) {
  Scan scan(place);
  PERDURE_CHECK(scan.root());
  return std::move(scan.found);
}

Result<std::vector<Residue>> find_quarantined(const PosixPlace& place) {
  Scan scan(place);
  PERDURE_CHECK(scan.quarantines());
  return std::move(scan.found);
}

}  // namespace perdure::store
