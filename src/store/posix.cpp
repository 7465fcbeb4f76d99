// The posix store:
//
//   a segment, complete and durable or not there:  <root>/<name>/<version>/<index>-of-<count>.<attempt>.pds
//   a segment being written (posix_sink.cpp):      <root>/<name>/<version>/.tmp-<writer, random>-<file name>
//   hides an attempt being removed:                <root>/<name>/.retired-<version>-<attempt>/
//   attempts up to then are gone:                  <root>/<name>/.forgotten-<time>/          (both: posix_removal.cpp)
//   who writes the versions (owner.cpp):           <root>/<name>/.owner
//   which place this is (incarnation.cpp):         <root>/<name>/.incarnation        (both: name_records.cpp)
//   set aside with its report:                     <root>/.quarantine/<name>.<version>.<file name>[.json]
//                                                                                            (posix_quarantine.cpp)
//
// No state is kept in memory: any number of processes on any number of nodes may work in one store. Entries that are
// none of these are left alone and never listed; directories are never reached through symbolic links.
#include "store/posix.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/hash.hpp"
#include "os/file.hpp"
#include "segment/file_source.hpp"
#include "segment/manifest_codec.hpp"
#include "store/incarnation.hpp"
#include "store/posix_quarantine.hpp"
#include "store/posix_removal.hpp"
#include "store/posix_residue.hpp"
#include "store/posix_sink.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

/// Segments that belong together. Those of another count would be another way to cut the same attempt.
using ListingKey = std::tuple<std::uint64_t, segment::Attempt, std::uint32_t>;

void add_segment(std::map<ListingKey, VersionListing>& listings, const std::string& name, std::uint64_t version,
                 const std::string& file) {
  const auto parsed = segment::parse_file_name(file);
  if (!parsed) return;
  VersionListing& listing = listings[{version, parsed->attempt, parsed->count}];
  listing.id = {name, version, parsed->attempt};
  listing.segment_count = parsed->count;
  listing.segments.push_back(
      {parsed->index, parsed->count, parsed->attempt, name + "/" + std::to_string(version) + "/" + file});
}

}  // namespace

base::Result<std::unique_ptr<Store>> make_posix_store(const std::string& place, const StoreOptions& options) {
  PERDURE_TRY(std::string absolute, os::absolute_path(place));
  const auto writer = options.find(kWriter);
  return std::make_unique<PosixStore>(std::move(absolute), writer == options.end() ? std::string() : writer->second);
}

PosixStore::PosixStore(const std::string& root, const std::string& writer)
    : layout_(root, static_cast<std::uint32_t>(base::hash64(base::as_bytes(writer)))),
      properties_{"posix", root, true, true, root} {}

Status PosixStore::prepare() { return os::make_directories(layout_.root()); }

Status PosixStore::check_root() const {
  PERDURE_TRY(bool there, os::exists(layout_.root()));
  if (there) return {};
  return base::fail(PERDURE_NOT_FOUND, layout_.root(), "the store's directory is not there",
                    "check the path of the store (store.path) and whether its file system is mounted");
}

Result<std::unique_ptr<SegmentSink>> PosixStore::begin(const segment::Manifest& manifest, std::uint64_t file_bytes) {
  PERDURE_CHECK(segment::check_name(manifest.id.name));
  return PosixSink::begin(layout_, manifest, file_bytes);
}

Result<std::unique_ptr<SegmentSink>> PosixStore::resume(const segment::Manifest& manifest, std::uint64_t file_bytes) {
  PERDURE_CHECK(segment::check_name(manifest.id.name));
  return PosixSink::resume(layout_, manifest, file_bytes);
}

Status PosixStore::discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) {
  PERDURE_CHECK(segment::check_name(id.name));
  PERDURE_TRY(const auto left, temporaries_of(layout_, id, index, count));
  for (const std::string& temporary : left) PERDURE_CHECK(remove_abandoned(temporary));
  return remove_if_empty(layout_, id);
}

Result<std::vector<std::string>> PosixStore::names() {
  PERDURE_CHECK(check_root());
  PERDURE_TRY(auto entries, os::list_directory(layout_.root()));
  std::vector<std::string> names;
  for (const os::Entry& entry : entries)
    if (entry.directory && segment::check_name(entry.name)) names.push_back(entry.name);
  return names;
}

Result<std::vector<VersionListing>> PosixStore::list(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_root());
  PERDURE_TRY(auto entries, os::list_directory(layout_.name_directory(name)));
  const std::uint64_t forgotten_ns = latest_forgotten(entries);
  std::set<RetiredMark> retired;
  for (const os::Entry& entry : entries)
    if (auto mark = parse_retired_mark(entry.name)) retired.insert(*mark);
  std::map<ListingKey, VersionListing> found;
  for (const os::Entry& entry : entries) {
    const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (!version) continue;
    auto files = os::list_directory(layout_.name_directory(name) + "/" + entry.name);
    if (!files && files.error().code == PERDURE_NOT_FOUND) continue;  // removed meanwhile
    if (!files) return base::fail(std::move(files).error());
    for (const os::Entry& file : *files)
      if (!file.directory) add_segment(found, name, *version, file.name);
  }
  std::vector<VersionListing> listings;
  for (auto& [key, listing] : found) {
    const bool gone = listing.id.attempt.created_ns <= forgotten_ns;
    if (gone || retired.contains({listing.id.version, listing.id.attempt})) continue;
    std::sort(listing.segments.begin(), listing.segments.end(),
              [](const SegmentRef& a, const SegmentRef& b) { return a.index < b.index; });
    listings.push_back(std::move(listing));
  }
  return listings;
}

Result<std::unique_ptr<segment::ByteSource>> PosixStore::open(const SegmentRef& segment) {
  return segment::open_file(layout_.root() + "/" + segment.path);
}

Result<std::unique_ptr<segment::ByteSource>> PosixStore::open_anew(const SegmentRef& segment) {
  return segment::open_file(layout_.root() + "/" + segment.path, segment::Cached::no);
}

Result<std::vector<std::unique_ptr<segment::ByteSource>>> PosixStore::unpublished(const segment::VersionId& id,
                                                                                  std::uint32_t index,
                                                                                  std::uint32_t count) {
  PERDURE_CHECK(segment::check_name(id.name));
  PERDURE_TRY(const auto paths, temporaries_of(layout_, id, index, count));
  std::vector<std::unique_ptr<segment::ByteSource>> found;
  for (const std::string& path : paths) {
    auto source = segment::open_file(path);
    if (!source && source.error().code == PERDURE_NOT_FOUND) continue;  // published or removed meanwhile
    if (!source) return base::fail(source.error());
    found.push_back(std::move(*source));
  }
  return found;
}

Result<std::vector<QuarantinedSegment>> PosixStore::set_aside(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const std::uint64_t forgotten_ns, forgotten(name));
  PERDURE_TRY(auto found, quarantined_segments(layout_, name));
  std::erase_if(found,
                [&](const QuarantinedSegment& segment) { return segment.id.attempt.created_ns <= forgotten_ns; });
  return found;
}

Status PosixStore::remove(const segment::VersionId& id) {
  PERDURE_CHECK(segment::check_name(id.name));
  return remove_attempt(layout_, id);
}

Status PosixStore::quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) {
  PERDURE_CHECK(segment::check_name(id.name));
  return quarantine_segment(layout_, segment, id, why);
}

Status PosixStore::forget(const std::string& name, std::uint64_t until_ns) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_root());
  PERDURE_CHECK(forget_name(layout_, name, until_ns));
  return remove_owner(layout_.name_directory(name));
}

Result<std::uint64_t> PosixStore::forgotten(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_root());
  return store::forgotten(layout_, name);
}

Result<std::optional<Owner>> PosixStore::owner(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_root());
  return read_owner(layout_.name_directory(name));
}

Status PosixStore::set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_root());
  PERDURE_CHECK(os::make_directory(layout_.name_directory(name)));
  PERDURE_CHECK(os::sync_directory(layout_.root()));
  return replace_owner(layout_.name_directory(name), expected, next);
}

Result<std::uint64_t> PosixStore::incarnation(const std::string& name, Missing missing) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_root());
  if (missing == Missing::leave) return read_incarnation(layout_.name_directory(name));
  PERDURE_CHECK(os::make_directory(layout_.name_directory(name)));
  PERDURE_CHECK(os::sync_directory(layout_.root()));
  return make_incarnation(layout_.name_directory(name));
}

Result<std::vector<Residue>> PosixStore::residue() { return find_residue(layout_.root()); }

Status PosixStore::clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) {
  PERDURE_TRY(auto all, names());
  for (const std::string& name : all) {
    PERDURE_CHECK(clean_name(layout_, name, abandoned));
    PERDURE_CHECK(finish_quarantine(layout_, name));
  }
  return {};
}

}  // namespace perdure::store
