#include "store/posix_residue.hpp"

#include "os/file.hpp"
#include "segment/manifest_codec.hpp"
#include "store/name_records.hpp"
#include "store/posix_layout.hpp"
#include "store/posix_quarantine.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;
constexpr std::uint64_t kMaxReport = 1 << 20;

std::uint64_t size_of(const std::string& path) {
  auto file = os::File::open(path, os::Open::read);
  if (!file) return 0;
  return file->size().value_or(0);
}

/// A segment is told by its ending, or by its beginning.
bool looks_like_segment(const std::string& path, const std::string& file) {
  if (file.ends_with(".pds")) return true;
  auto opened = os::File::open(path, os::Open::read);
  if (!opened) return false;
  std::vector<std::byte> block(segment::kHeaderBytes);
  return opened->read(0, block) && segment::decode_header(block, path);
}

class Scan {
 public:
  Status root(const std::string& directory) {
    PERDURE_TRY(const auto entries, os::list_directory(directory));
    for (const os::Entry& entry : entries) {
      const std::string path = directory + "/" + entry.name;
      if (entry.directory && entry.name == kQuarantine) {
        PERDURE_CHECK(quarantine(path));
      } else if (entry.directory && segment::check_name(entry.name)) {
        PERDURE_CHECK(name(path, entry.name));
      } else {
        add_stray(path, entry, {});
      }
    }
    return {};
  }
  std::vector<Residue> found;

 private:
  Status name(const std::string& directory, const std::string& name) {
    PERDURE_TRY(const auto entries, os::list_directory(directory));
    for (const os::Entry& entry : entries) {
      const std::string path = directory + "/" + entry.name;
      if (entry.directory ? parse_forgotten_mark(entry.name).has_value() : is_name_record(entry.name)) continue;
      const auto mark = entry.directory ? parse_retired_mark(entry.name) : std::nullopt;
      const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
      if (mark) {
        found.push_back({Residue::Kind::retired, path, 0, name, mark->version, mark->attempt, {}});
      } else if (version) {
        PERDURE_CHECK(this->version(path, name, *version));
      } else {
        add_stray(path, entry, name);
      }
    }
    return {};
  }

  Status version(const std::string& directory, const std::string& name, std::uint64_t version) {
    auto entries = os::list_directory(directory);
    if (!entries && entries.error().code == PERDURE_NOT_FOUND) return {};  // removed meanwhile
    if (!entries) return base::fail(entries.error());
    for (const os::Entry& entry : *entries) {
      const std::string path = directory + "/" + entry.name;
      if (!entry.directory && segment::parse_file_name(entry.name)) continue;
      if (entry.directory || !entry.name.starts_with(kTemporaryPrefix)) {
        add_stray(path, entry, name);
        continue;
      }
      const auto parsed = parse_temporary(entry.name);
      found.push_back({Residue::Kind::temporary,
                       path,
                       size_of(path),
                       name,
                       version,
                       parsed ? parsed->attempt : segment::Attempt{},
                       {}});
    }
    return {};
  }

  Status quarantine(const std::string& directory) {
    PERDURE_TRY(const auto entries, os::list_directory(directory));
    for (const os::Entry& entry : entries) {
      if (entry.directory || entry.name.ends_with(".json")) continue;
      const std::string path = directory + "/" + entry.name;
      found.push_back({Residue::Kind::quarantined, path, size_of(path), {}, 0, {}, {}});
      if (auto text = os::read_file(quarantine_report(path), kMaxReport))
        found.back().report_text.assign(reinterpret_cast<const char*>(text->data()), text->size());
    }
    return {};
  }

  void add_stray(const std::string& path, const os::Entry& entry, const std::string& name) {
    const bool segment = !entry.directory && looks_like_segment(path, entry.name);
    const auto kind = segment ? Residue::Kind::misplaced : Residue::Kind::foreign;
    found.push_back({kind, path, entry.directory ? 0 : size_of(path), name, 0, {}, {}});
  }
};

}  // namespace

Result<std::vector<Residue>> find_residue(const std::string& root) {
  Scan scan;
  PERDURE_CHECK(scan.root(root));
  return std::move(scan.found);
}

}  // namespace perdure::store
