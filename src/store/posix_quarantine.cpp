// Setting a segment aside, so that it is where it was or in quarantine, and in quarantine never without its report:
//   1. make <root>/.quarantine, synced into <root>
//   2. write the report <name>.<version>.<file name>.json, synced
//   3. rename the segment to <name>.<version>.<file name>.moving; what was published in its place since it was read is
//      put back
//   4. rename it to <name>.<version>.<file name>, and sync both directories
// Whoever cleans goes on where a death came between 3 and 4: what is whole is put back.
// A name that is taken by an earlier file gets a number: nothing in quarantine is ever overwritten.
#include "store/posix_quarantine.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <ctime>
#include <optional>

#include "base/cbor.hpp"
#include "base/json.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "segment/file_source.hpp"
#include "segment/reader.hpp"
#include "store/posix_removal.hpp"

namespace perdure::store {
namespace {

using base::Status;

constexpr const char* kMoving = ".moving";
constexpr std::string_view kEnding = ".pds";

std::string quarantined_name(const PosixLayout& layout, const segment::VersionId& id, const std::string& file) {
  return layout.quarantine_directory() + "/" + id.name + "." + std::to_string(id.version) + "." + file;
}

/// The first "offset N" of a message, for programs that read the report.
base::Json offset_in(std::string_view text) {
  constexpr std::string_view kWord = "offset ";
  const std::size_t begin = text.find(kWord);
  if (begin == std::string_view::npos) return nullptr;
  const std::string_view digits = text.substr(begin + kWord.size());
  std::uint64_t offset = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), offset).ec != std::errc()) return nullptr;
  return offset;
}

std::string now_utc() {
  const auto seconds = static_cast<std::time_t>(os::wall_clock_ns() / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string report(const std::string& path, const segment::VersionId& id, const base::Error& why) {
  const base::Json json = {{"what", path},
                           {"name", id.name},
                           {"version", id.version},
                           {"why", why.text()},
                           {"code", base::code_name(why.code)},
                           {"offset", offset_in(why.cause)},
                           {"when", now_utc()}};
  return json.dump(2, ' ', true, base::Json::error_handler_t::replace) + "\n";
}

Status write_report(const std::string& path, const std::string& text) {
  PERDURE_TRY(os::File file, os::File::open(path, os::Open::create));
  PERDURE_CHECK(file.truncate(0));
  PERDURE_CHECK(file.write(0, base::as_bytes(text)));
  return file.sync();
}

base::Result<std::string> free_name(const std::string& wanted) {
  std::string path = wanted;
  for (int number = 2;; ++number) {
    PERDURE_TRY(const bool taken, os::exists(path));
    PERDURE_TRY(const bool moving, os::exists(path + kMoving));
    if (!taken && !moving) return path;
    path = wanted + "." + std::to_string(number);
  }
}

// Whether the file is the one that was read; true where nobody said which one that was.
Result<bool> is_the_one(const std::string& path, const std::string& identity) {
  if (identity.empty()) return true;
  PERDURE_TRY(const auto file, os::File::open(path, os::Open::read));
  PERDURE_TRY(const auto found, file.identity());
  return segment::file_identity(found) == identity;
}

// What is gone meanwhile was taken care of by who cleans.
Status rename_unless_gone(const std::string& from, const std::string& to) {
  auto renamed = os::rename_to_free(from, to);
  return renamed || renamed.error().code != PERDURE_NOT_FOUND ? renamed : Status();
}

base::Error another_one(const std::string& path) {
  return {PERDURE_NOT_FOUND, path, "it was written anew since it was read; nothing was set aside", "", false};
}

// <name>.<version>.<file name of the segment>, and a number behind it when that was taken.
std::optional<segment::VersionId> parse_quarantined(std::string_view file, const std::string& name) {
  if (!file.starts_with(name + ".")) return std::nullopt;
  file.remove_prefix(name.size() + 1);
  const std::size_t dot = file.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto version = parse_version(file.substr(0, dot));
  file.remove_prefix(dot + 1);
  const std::size_t ending = file.rfind(kEnding);
  if (!version || ending == std::string_view::npos) return std::nullopt;
  const auto segment = segment::parse_file_name(file.substr(0, ending + kEnding.size()));
  if (!segment) return std::nullopt;
  return segment::VersionId{name, *version, segment->attempt};
}

}  // namespace

std::string quarantine_report(std::string path) {
  if (path.ends_with(kMoving)) path.resize(path.size() - std::strlen(kMoving));
  return path + ".json";
}

Result<std::vector<QuarantinedSegment>> quarantined_segments(const PosixLayout& layout, const std::string& name) {
  std::vector<QuarantinedSegment> found;
  auto entries = os::list_directory(layout.quarantine_directory());
  if (!entries && entries.error().code == PERDURE_NOT_FOUND) return found;
  if (!entries) return base::fail(std::move(entries).error());
  for (const os::Entry& entry : *entries) {
    if (entry.directory || entry.name.ends_with(".json")) continue;
    if (auto id = parse_quarantined(entry.name, name))
      found.push_back({std::move(*id), layout.quarantine_directory() + "/" + entry.name});
  }
  return found;
}

Status quarantine_segment(const PosixLayout& layout, const SegmentRef& segment, const segment::VersionId& id,
                          const base::Error& why) {
  const std::string name = segment::file_name(segment.index, segment.count, segment.attempt);
  const std::string path = layout.version_directory(id) + "/" + name;
  const std::string wanted = quarantined_name(layout, id, name);
  PERDURE_TRY(bool there, os::exists(path));
  PERDURE_TRY(bool done, os::exists(wanted));
  if (!there && done) return {};  // somebody found the same damage
  if (!there) return base::fail(PERDURE_NOT_FOUND, path, "no such segment to set aside");
  PERDURE_TRY(const bool same, is_the_one(path, segment.identity));
  if (!same) return base::fail(another_one(path));
  PERDURE_CHECK(os::make_directory(layout.quarantine_directory()));  // 1
  PERDURE_CHECK(os::sync_directory(layout.root()));
  PERDURE_TRY(std::string aside, free_name(wanted));
  // 2. On a full device it is set aside without a report: left in its place it would keep its version's number taken.
  const Status reported = write_report(aside + ".json", report(path, id, why));
  if (!reported && reported.error().code != PERDURE_NO_SPACE) return reported;
  if (!reported) PERDURE_CHECK(os::remove_file(aside + ".json"));
  const std::string moving = aside + kMoving;
  PERDURE_CHECK(os::rename_to_free(path, moving));  // 3
  PERDURE_TRY(const bool right, is_the_one(moving, segment.identity));
  if (!right) {  // published between the look and the rename
    PERDURE_CHECK(rename_unless_gone(moving, path));
    PERDURE_CHECK(os::sync_directory(layout.version_directory(id)));
    if (reported) PERDURE_CHECK(os::remove_file(aside + ".json"));
    return base::fail(another_one(path));
  }
  PERDURE_CHECK(rename_unless_gone(moving, aside));  // 4
  PERDURE_CHECK(os::sync_directory(layout.quarantine_directory()));
  PERDURE_CHECK(os::sync_directory(layout.version_directory(id)));
  return remove_if_empty(layout, id);
}

namespace {

// True when it was whole and is in its place again.
base::Result<bool> put_back(const PosixLayout& layout, const segment::VersionId& id, const std::string& moving,
                            const std::string& file) {
  auto source = segment::open_file(moving, segment::Cached::no);
  if (!source) return base::fail(std::move(source).error());
  if (!segment::verify(**source, nullptr).empty()) return false;
  PERDURE_CHECK(os::make_directory(layout.name_directory(id.name)));
  PERDURE_CHECK(os::make_directory(layout.version_directory(id)));
  const Status back = os::rename_to_free(moving, layout.version_directory(id) + "/" + file);
  if (!back && back.error().code == PERDURE_EXISTS) return false;
  PERDURE_CHECK(back);
  PERDURE_CHECK(os::sync_directory(layout.version_directory(id)));
  PERDURE_CHECK(os::sync_directory(layout.name_directory(id.name)));
  return true;
}

}  // namespace

Status finish_quarantine(const PosixLayout& layout, const std::string& name) {
  PERDURE_TRY(const auto found, quarantined_segments(layout, name));
  for (const QuarantinedSegment& segment : found) {
    if (!segment.path.ends_with(kMoving)) continue;
    const std::string aside = segment.path.substr(0, segment.path.size() - std::strlen(kMoving));
    const std::string before = quarantined_name(layout, segment.id, "");
    const std::string file = aside.substr(before.size(), aside.rfind(kEnding) + kEnding.size() - before.size());
    const auto whole = put_back(layout, segment.id, segment.path, file);
    if (!whole && whole.error().code == PERDURE_NOT_FOUND) continue;  // its process goes on with it
    PERDURE_CHECK(whole);
    if (*whole) PERDURE_CHECK(os::remove_file(quarantine_report(aside)));
    if (!*whole) PERDURE_CHECK(rename_unless_gone(segment.path, aside));
    PERDURE_CHECK(os::sync_directory(layout.quarantine_directory()));
  }
  return {};
}

}  // namespace perdure::store
