// The posix store keeps a name in <root>/<name>, and a version in <name>/<version>. This table has each entry, its
// meaning, and the file that knows it:
//
// clang-format off
//   <version>/<index>-of-<count>.<attempt>.pds              a segment, complete and durable, or absent               posix_sink.cpp
//   <version>/.tmp-<writer, random>-<file name>             a segment being written                                  posix_sink.cpp
//   <version>/.borrowed-<attempt>-<version>-<file name>     a segment of another version, kept for this one          posix_borrowed.cpp
//   <name>/.retired-<version>-<attempt>/                    hides an attempt that is being removed                   posix_removal.cpp
//   <name>/.forgotten-<time>/                               attempts up to this time are forgotten                   posix_removal.cpp
//   <name>/.owner                                           the launch that writes the versions                      owner.cpp
//   <name>/.runner                                          the launch that runs a resumed process                   owner.cpp
//   <name>/.incarnation                                     identifies this place                                    incarnation.cpp
//   <name>/.forks                                           where branches begin                                     forks.cpp
//   <name>/.halt                                            when the name's programs are to end                      halt_record.cpp
//   <root>/.quarantine/<name>.<version>.<file name>[.json]  a segment set aside, with its report                     posix_quarantine.cpp
//   <root>/.quarantine-<number of the user>/...             the same, of another user than the owner of .quarantine  posix_quarantine.cpp
// clang-format on
//
// name_records.cpp knows the records .owner to .halt, too. No state is kept in memory: any number of processes on
// any number of nodes may work in one store. Entries of other kinds are left alone and never listed. Below the root
// nothing is reached through symbolic links, and nothing in another user's directory (posix_place.hpp).
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
#include "store/name_records.hpp"
#include "store/posix_quarantine.hpp"
#include "store/posix_removal.hpp"
#include "store/posix_residue.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

/// A listing has segments that belong together. Those of another count would be another way to cut the same attempt.
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

Result<std::vector<os::Entry>> list_in(const PosixPlace& place, const os::Directory& parent, const std::string& name) {
  PERDURE_TRY(const auto directory, place.below(parent, name));
  return directory.list();
}

segment::DirectReads direct_reads(DirectIo direct) {
  return direct == DirectIo::no ? segment::DirectReads::no : segment::DirectReads::where_possible;
}

}  // namespace

base::Result<std::unique_ptr<Store>> make_posix_store(const std::string& place, const StoreOptions& options,
                                                      Whose whose) {
  PERDURE_TRY(std::string absolute, os::absolute_path(place));
  const auto option = [&](const char* key) {
    const auto found = options.find(key);
    return found == options.end() ? std::string() : found->second;
  };
  const DirectIo direct = option("direct") == "false" ? DirectIo::no : DirectIo::where_possible;
  return std::make_unique<PosixStore>(std::move(absolute), whose, option(kWriter), direct);
}

PosixStore::PosixStore(const std::string& root, Whose whose, const std::string& writer, DirectIo direct)
    : place_(root, whose, static_cast<std::uint32_t>(base::hash64(base::as_bytes(writer)))),
      properties_{"posix", root, true, true, root},
      direct_(direct) {}

Status PosixStore::prepare() { return place_.make_root(); }

Result<std::unique_ptr<SegmentSink>> PosixStore::begin(const segment::Manifest& manifest, std::uint64_t file_bytes) {
  PERDURE_CHECK(segment::check_name(manifest.id.name));
  return PosixSink::begin(place_, manifest, file_bytes, direct_);
}

Result<std::unique_ptr<SegmentSink>> PosixStore::resume(const segment::Manifest& manifest, std::uint64_t file_bytes) {
  PERDURE_CHECK(segment::check_name(manifest.id.name));
  return PosixSink::resume(place_, manifest, file_bytes, direct_);
}

Status PosixStore::discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) {
  PERDURE_CHECK(segment::check_name(id.name));
  PERDURE_TRY(const auto version, version_if_there(place_, id));
  if (!version) return {};
  PERDURE_TRY(const auto left, temporaries_of(place_, Written::by_this_writer, *version, id, index, count));
  for (const std::string& temporary : left) PERDURE_CHECK(remove_abandoned(*version, temporary));
  return remove_if_empty(place_, id);
}

Result<std::vector<std::string>> PosixStore::names() {
  PERDURE_TRY(const auto root, place_.root());
  PERDURE_TRY(auto entries, root.list());
  std::vector<std::string> names;
  for (const os::Entry& entry : entries)
    if (entry.directory && segment::check_name(entry.name)) names.push_back(entry.name);
  return names;
}

Result<std::vector<VersionListing>> PosixStore::list(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const auto place, place_.name(name));
  PERDURE_TRY(auto entries, place.list());
  const std::uint64_t forgotten_ns = latest_forgotten(entries);
  std::set<RetiredMark> retired;
  for (const os::Entry& entry : entries)
    if (auto mark = entry.directory ? parse_retired_mark(entry.name) : std::nullopt) retired.insert(*mark);
  std::map<ListingKey, VersionListing> found;
  for (const os::Entry& entry : entries) {
    const auto version = entry.directory ? parse_version(entry.name) : std::nullopt;
    if (!version) continue;
    const auto files = list_in(place_, place, entry.name);
    if (!files && files.error().code == PERDURE_NOT_FOUND) continue;  // removed meanwhile
    if (!files) return base::fail(files.error());
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
  PERDURE_TRY(auto file, place_.file(segment.path));
  return segment::open_file(std::move(file), segment::Cached::yes, direct_reads(direct_));
}

Result<std::unique_ptr<segment::ByteSource>> PosixStore::open_anew(const SegmentRef& segment) {
  PERDURE_TRY(auto file, place_.file(segment.path));
  // Reads in another way than the first time: the caller comes because that found damage.
  return segment::open_file(std::move(file), segment::Cached::no, segment::DirectReads::no);
}

Result<std::vector<std::unique_ptr<segment::ByteSource>>> PosixStore::unpublished(const segment::VersionId& id,
                                                                                  std::uint32_t index,
                                                                                  std::uint32_t count) {
  PERDURE_CHECK(segment::check_name(id.name));
  std::vector<std::unique_ptr<segment::ByteSource>> found;
  PERDURE_TRY(const auto version, version_if_there(place_, id));
  if (!version) return found;
  PERDURE_TRY(const auto names, temporaries_of(place_, Written::by_anybody, *version, id, index, count));
  for (const std::string& name : names) {
    auto file = version->open_file(name, os::Open::read);
    if (!file && file.error().code == PERDURE_NOT_FOUND) continue;  // published or removed meanwhile
    if (!file) return base::fail(file.error());
    PERDURE_TRY(found.emplace_back(),
                segment::open_file(std::move(*file), segment::Cached::yes, direct_reads(direct_)));
  }
  return found;
}

Result<std::vector<QuarantinedSegment>> PosixStore::set_aside(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const std::uint64_t forgotten_ns, forgotten(name));
  PERDURE_TRY(auto found, quarantined_segments(place_, name));
  std::erase_if(found,
                [&](const QuarantinedSegment& segment) { return segment.id.attempt.created_ns <= forgotten_ns; });
  return found;
}

Status PosixStore::remove(const segment::VersionId& id) {
  PERDURE_CHECK(segment::check_name(id.name));
  return remove_attempt(place_, id);
}

// A rename is seen before the writer's sync of the directory, which may fail.
Status PosixStore::make_lasting(const segment::VersionId& id) {
  PERDURE_CHECK(segment::check_name(id.name));
  PERDURE_TRY(const auto root, place_.root());
  PERDURE_TRY(const auto name, place_.name(id.name));
  PERDURE_TRY(const auto version, place_.version(id));
  PERDURE_CHECK(version.sync());
  PERDURE_CHECK(name.sync());
  return root.sync();
}

Status PosixStore::quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) {
  PERDURE_CHECK(segment::check_name(id.name));
  return quarantine_segment(place_, segment, id, why);
}

Status PosixStore::forget(const std::string& name, std::uint64_t until_ns) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(forget_name(place_, name, until_ns));
  PERDURE_TRY(const auto place, place_.name(name));
  PERDURE_CHECK(place.remove_file(kForksRecord));
  return remove_owner(place);
}

Result<std::uint64_t> PosixStore::forgotten(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  return store::forgotten(place_, name);
}

Result<std::optional<Owner>> PosixStore::owner(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return std::nullopt;
  return read_owner(*place);
}

Status PosixStore::set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const auto place, place_.make_name(name));
  return replace_owner(place, expected, next);
}

Result<std::uint64_t> PosixStore::incarnation(const std::string& name, Missing missing) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(place_.root());
  if (missing == Missing::make) {
    PERDURE_TRY(const auto place, place_.make_name(name));
    return make_incarnation(place);
  }
  PERDURE_TRY(const auto place, name_if_there(place_, name));
  if (!place) return kNoIncarnation;
  return read_incarnation(*place);
}

Result<std::vector<Residue>> PosixStore::residue() { return find_residue(place_); }

Result<std::vector<Residue>> PosixStore::quarantined() { return find_quarantined(place_); }

Status PosixStore::clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) {
  PERDURE_TRY(auto all, names());
  for (const std::string& name : all) {
    Status cleaned = clean_name(place_, name, abandoned);
    if (cleaned) cleaned = finish_quarantine(place_, name);
    if (!cleaned && cleaned.error().code != PERDURE_PERMISSION) return cleaned;  // other users clean their own
  }
  return {};
}

}  // namespace perdure::store
