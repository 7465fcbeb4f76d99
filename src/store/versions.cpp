// The objects of a store of versions, where <name> begins their keys. Each one, and the file that knows it:
//
// - <name>/<version>/<index>-of-<count>.<attempt>.pds: a segment (version_upload.cpp); an empty one is none, and stands
//   for a segment that was set aside (object_quarantine.cpp)
// - <name>/.retired-<version>-<attempt>: hides an attempt that is being removed
// - <name>/.forgotten-<time>: attempts up to then are gone
// - <name>/.owner, .runner, .incarnation, .forks: records (object_records.cpp, here)
// - .quarantine/<name>.<version>.<file name>[.json]: set aside, with its report (object_quarantine.cpp)
//
// A removal puts a mark, removes the segments, and removes the mark. So no reader takes the rest of an attempt for a
// complete version, whenever the process dies. Whoever finds a mark (a cleaner, a writer of the same attempt) goes on.
// A mark of a forgotten name stays: a node that cannot be reached now may come back with old versions.
#include "store/versions.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "os/system.hpp"
#include "segment/borrowed.hpp"
#include "segment/manifest_codec.hpp"
#include "store/forks.hpp"
#include "store/halt_record.hpp"
#include "store/incarnation.hpp"
#include "store/name_records.hpp"
#include "store/object_keys.hpp"
#include "store/object_quarantine.hpp"
#include "store/object_records.hpp"
#include "store/object_source.hpp"
#include "store/set_aside.hpp"
#include "store/version_upload.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kMostRecordBytes = 1 << 20;
constexpr std::uint64_t kMostReportBytes = 1 << 20;
constexpr std::uint64_t kLongestCopy_ns = 3'600'000'000'000;  // into quarantine; who is slower begins anew

/// The marks of a name, which hide attempts.
struct Marks {
  std::set<RetiredMark> retired;
  std::vector<std::uint64_t> forgotten_ns;
  std::uint64_t latest_ns() const {
    return forgotten_ns.empty() ? 0 : *std::max_element(forgotten_ns.begin(), forgotten_ns.end());
  }
  bool hide(const segment::VersionId& id) const {
    return id.attempt.created_ns <= latest_ns() || retired.contains({id.version, id.attempt});
  }
};

std::string mark_key(const segment::VersionId& id) { return name_prefix(id.name) + retired_mark(id); }

Marks marks_among(const std::vector<ObjectInfo>& objects, const std::string& name) {
  Marks marks;
  const std::string prefix = name_prefix(name);
  for (const ObjectInfo& object : objects) {
    const std::string_view rest = std::string_view(object.key).substr(prefix.size());
    if (const auto mark = parse_retired_mark(rest)) marks.retired.insert(*mark);
    if (const auto until_ns = parse_forgotten_mark(rest)) marks.forgotten_ns.push_back(*until_ns);
  }
  return marks;
}

/// All marks begin with a dot.
Result<Marks> marks_of(Objects& objects, const std::string& name) {
  PERDURE_TRY(const auto found, objects.list(name_prefix(name) + ".", Depth::all));
  return marks_among(found, name);
}

/// Goes on with the removal of a marked attempt.
Status finish_removal(Objects& objects, const segment::VersionId& id) {
  PERDURE_TRY(const auto found, objects.list(version_prefix(id), Depth::all));
  // Without its mark somebody else has finished, and may have published the attempt anew since.
  const auto marked = objects.stat(mark_key(id));
  if (!marked && marked.error().code == PERDURE_NOT_FOUND) return {};
  PERDURE_CHECK(marked);
  for (const ObjectInfo& object : found) {
    const auto segment = parse_segment_key(object.key);
    if (segment && segment->id.attempt == id.attempt) PERDURE_CHECK(objects.remove(object.key));
  }
  return objects.remove(mark_key(id));
}

Status finish_forgetting(Objects& objects, const std::string& name) {
  PERDURE_TRY(const auto found, objects.list(name_prefix(name), Depth::all));
  const Marks marks = marks_among(found, name);
  for (const ObjectInfo& object : found) {
    const auto segment = parse_segment_key(object.key);
    if (segment && segment->id.attempt.created_ns <= marks.latest_ns()) PERDURE_CHECK(objects.remove(object.key));
  }
  for (const std::uint64_t until_ns : marks.forgotten_ns)
    if (until_ns < marks.latest_ns()) PERDURE_CHECK(objects.remove(name_prefix(name) + forgotten_mark(until_ns)));
  return {};
}

Status put_mark(Objects& objects, const std::string& key) {
  const auto put = objects.put(key, {}, PutCondition::any());
  return put ? Status() : Status(base::fail(put.error()));
}

Result<bool> is_there(Objects& objects, const std::string& prefix) {
  PERDURE_TRY(const auto found, objects.list(prefix, Depth::one));
  return !found.empty();
}

Residue::Kind kind_of_stray(const std::string& key) {
  return key.ends_with(".pds") ? Residue::Kind::misplaced : Residue::Kind::foreign;
}

bool is_record(const std::string& rest) { return is_name_record(rest) || parse_forgotten_mark(rest).has_value(); }

}  // namespace

Versions::Versions(std::shared_ptr<Objects> objects)
    : objects_(std::move(objects)),
      properties_{
          objects_->properties().kind, objects_->properties().location, objects_->properties().writable, false, {}} {}

// A store of objects is made outside: a missing one must not look like a first start.
Status Versions::prepare() {
  const auto found = objects_->list(quarantine_key(""), Depth::one);
  return found ? Status() : Status(base::fail(found.error()));
}

Result<std::unique_ptr<SegmentSink>> Versions::begin(const segment::Manifest& manifest, std::uint64_t file_bytes) {
  const segment::VersionId& id = manifest.id;
  PERDURE_CHECK(segment::check_name(id.name));
  PERDURE_TRY(const auto borrowed, segment::borrowed_of(manifest, id.text()));
  if (!borrowed.empty())
    return base::fail(PERDURE_UNSUPPORTED, id.text(), "this store keeps no bytes of other versions for it");
  PERDURE_TRY(const Marks marks, marks_of(*objects_, id.name));
  if (id.attempt.created_ns <= marks.latest_ns())
    return base::fail(PERDURE_CLOSED, id.text(), "it was forgotten on purpose (perdure forget)");
  if (marks.retired.contains({id.version, id.attempt})) PERDURE_CHECK(finish_removal(*objects_, id));
  return VersionUpload::begin(objects_, manifest, file_bytes);
}

Result<std::unique_ptr<SegmentSink>> Versions::resume(const segment::Manifest& manifest, std::uint64_t) {
  return base::fail(PERDURE_UNSUPPORTED, manifest.id.text(), "this store does not go on with a segment");
}

Result<std::vector<std::unique_ptr<segment::ByteSource>>> Versions::unpublished(const segment::VersionId&,
                                                                                std::uint32_t, std::uint32_t) {
  return std::vector<std::unique_ptr<segment::ByteSource>>();
}

Status Versions::discard(const segment::VersionId&, std::uint32_t, std::uint32_t) { return {}; }

Result<std::vector<std::string>> Versions::names() {
  PERDURE_TRY(const auto folders, objects_->list("", Depth::one));
  std::vector<std::string> names;
  for (const ObjectInfo& folder : folders) {
    const auto named = parse_named_key(folder.key);
    if (named && named->rest.empty()) names.push_back(named->name);
  }
  return names;
}

Result<std::vector<VersionListing>> Versions::list(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const auto objects, objects_->list(name_prefix(name), Depth::all));
  if (objects.empty())
    return base::fail(PERDURE_NOT_FOUND, properties_.location + "/" + name, "there is no such checkpoint");
  const Marks marks = marks_among(objects, name);
  // Segments of another count are another way to cut the same attempt.
  std::map<std::tuple<std::uint64_t, segment::Attempt, std::uint32_t>, VersionListing> found;
  for (const ObjectInfo& object : objects) {
    const auto segment = parse_segment_key(object.key);
    if (!segment || object.bytes == 0 || marks.hide(segment->id)) continue;
    VersionListing& listing = found[{segment->id.version, segment->id.attempt, segment->count}];
    listing.id = segment->id;
    listing.segment_count = segment->count;
    listing.segments.push_back({segment->index, segment->count, segment->id.attempt, object.key});
  }
  std::vector<VersionListing> listings;
  for (auto& [key, listing] : found) {
    std::sort(listing.segments.begin(), listing.segments.end(),
              [](const SegmentRef& a, const SegmentRef& b) { return a.index < b.index; });
    listings.push_back(std::move(listing));
  }
  return listings;
}

Result<std::unique_ptr<segment::ByteSource>> Versions::open(const SegmentRef& segment) {
  return open_object(objects_, segment.path);
}

Result<std::unique_ptr<segment::ByteSource>> Versions::open_anew(const SegmentRef& segment) { return open(segment); }

Status Versions::remove(const segment::VersionId& id) {
  PERDURE_CHECK(segment::check_name(id.name));
  PERDURE_TRY(const bool there, is_there(*objects_, version_prefix(id)));
  PERDURE_TRY(const Marks marks, marks_of(*objects_, id.name));
  if (!there && !marks.retired.contains({id.version, id.attempt})) return {};
  PERDURE_CHECK(put_mark(*objects_, mark_key(id)));
  return finish_removal(*objects_, id);
}

// Objects are durable when they are put.
Status Versions::make_lasting(const segment::VersionId& id) { return segment::check_name(id.name); }

Status Versions::quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) {
  PERDURE_CHECK(segment::check_name(id.name));
  return quarantine_object(*objects_, segment, id, why);
}

Result<std::vector<QuarantinedSegment>> Versions::set_aside(const std::string& name) {
  PERDURE_TRY(const std::uint64_t forgotten_ns, forgotten(name));
  PERDURE_TRY(auto found, quarantined_objects(*objects_, name));
  std::erase_if(found, [&](const QuarantinedSegment& one) { return one.id.attempt.created_ns <= forgotten_ns; });
  return found;
}

Status Versions::forget(const std::string& name, std::uint64_t until_ns) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(put_mark(*objects_, name_prefix(name) + forgotten_mark(until_ns)));
  PERDURE_CHECK(finish_forgetting(*objects_, name));
  for (const char* record : {kForksRecord, kRunnerRecord, kOwnerRecord})
    PERDURE_CHECK(objects_->remove(name_prefix(name) + record));
  return {};
}

Result<std::uint64_t> Versions::forgotten(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const Marks marks, marks_of(*objects_, name));
  return marks.latest_ns();
}

Result<std::optional<Owner>> Versions::owner(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  return read_owner(*objects_, name_prefix(name) + kOwnerRecord);
}

Status Versions::set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) {
  PERDURE_CHECK(segment::check_name(name));
  return replace_owner(*objects_, name_prefix(name) + kOwnerRecord, expected, next,
                       "another launch has become the owner of this checkpoint: ");
}

Result<std::optional<Owner>> Versions::runner(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  return read_owner(*objects_, name_prefix(name) + kRunnerRecord);
}

Status Versions::set_runner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const bool there, is_there(*objects_, name_prefix(name)));
  if (!there) return base::fail(PERDURE_NOT_FOUND, "checkpoint " + name, "there is nothing of it in this store");
  return replace_owner(*objects_, name_prefix(name) + kRunnerRecord, expected, next,
                       "somebody else runs this checkpoint by now: ");
}

Result<std::vector<plan::Fork>> Versions::forks(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  const std::string key = name_prefix(name) + kForksRecord;
  PERDURE_TRY(const auto whole, get_whole(*objects_, key, kMostRecordBytes));
  if (!whole) return std::vector<plan::Fork>();
  return decode_forks(whole->text, properties_.location + "/" + key);
}

Status Versions::set_forks(const std::string& name, const std::vector<plan::Fork>& forks) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_CHECK(check_number(forks, "checkpoint " + name));
  const auto put = objects_->put(name_prefix(name) + kForksRecord, base::as_bytes(encode(forks)), PutCondition::any());
  return put ? Status() : Status(base::fail(put.error()));
}

Result<std::uint64_t> Versions::halt(const std::string& name) {
  PERDURE_CHECK(segment::check_name(name));
  const std::string key = name_prefix(name) + kHaltRecord;
  PERDURE_TRY(const auto whole, get_whole(*objects_, key, kMostHaltBytes));
  if (!whole) return std::uint64_t{0};
  return parse_halt(whole->text, properties_.location + "/" + key);
}

Status Versions::set_halt(const std::string& name, std::uint64_t at_ns) {
  PERDURE_CHECK(segment::check_name(name));
  PERDURE_TRY(const bool there, is_there(*objects_, name_prefix(name)));
  if (!there) return base::fail(PERDURE_NOT_FOUND, "checkpoint " + name, "there is nothing of it in this store");
  const std::string key = name_prefix(name) + kHaltRecord;
  if (at_ns == 0) return objects_->remove(key);
  const auto put = objects_->put(key, base::as_bytes(halt_text(at_ns)), PutCondition::any());
  return put ? Status() : Status(base::fail(put.error()));
}

Result<std::uint64_t> Versions::incarnation(const std::string& name, Missing missing) {
  PERDURE_CHECK(segment::check_name(name));
  const std::string key = name_prefix(name) + kIncarnationRecord;
  PERDURE_TRY(auto there, get_whole(*objects_, key, kMostRecordBytes));
  if (!there && missing == Missing::leave) return kNoIncarnation;
  if (!there) {
    const auto put = objects_->put(key, base::as_bytes(drawn_incarnation()), PutCondition::absent());
    if (!put && put.error().code != PERDURE_EXISTS) return base::fail(put.error());
    PERDURE_TRY(there, get_whole(*objects_, key, kMostRecordBytes));
  }
  if (!there)
    return base::fail(PERDURE_NOT_FOUND, properties_.location + "/" + key, "it was removed meanwhile", "", true);
  return incarnation_of(base::as_bytes(there->text));
}

Result<std::vector<Residue>> Versions::residue() {
  PERDURE_TRY(const auto objects, objects_->list("", Depth::all));
  std::vector<Residue> found;
  const auto add = [&](Residue::Kind kind, const ObjectInfo& object, const std::string& name) -> Residue& {
    return found.emplace_back(
        Residue{kind, properties_.location + "/" + object.key, object.bytes, name, 0, {}, {}, object.age_ns});
  };
  for (const ObjectInfo& object : objects) {
    if (object.key.starts_with(quarantine_key(""))) {
      if (object.key.ends_with(".json")) continue;
      Residue& aside = add(Residue::Kind::quarantined, object, {});
      if (auto report = get_whole(*objects_, quarantine_report(object.key), kMostReportBytes); report && *report)
        aside.report_text = (*report)->text;
      continue;
    }
    const auto named = parse_named_key(object.key);
    if (parse_segment_key(object.key) || (named && is_record(named->rest))) continue;
    const auto mark = named ? parse_retired_mark(named->rest) : std::nullopt;
    Residue& one = add(mark ? Residue::Kind::retired : kind_of_stray(object.key), object, named ? named->name : "");
    if (mark) one.version = mark->version, one.attempt = mark->attempt;
  }
  PERDURE_TRY(const auto uploads, objects_->uploads(""));
  for (const OpenUpload& upload : uploads) {
    const auto segment = parse_segment_key(upload.key);
    Residue& one = add(Residue::Kind::temporary, {upload.key, 0, {}, upload.age_ns}, segment ? segment->id.name : "");
    if (segment) one.version = segment->id.version, one.attempt = segment->id.attempt;
  }
  return found;
}

Status Versions::clean(const std::function<bool(const segment::VersionId&, std::uint32_t)>& abandoned) {
  PERDURE_TRY(const auto uploads, objects_->uploads(""));
  for (const OpenUpload& upload : uploads) {
    const auto segment = parse_segment_key(upload.key);
    const bool of_segment = segment && abandoned(segment->id, segment->index);
    const bool of_quarantine = upload.key.starts_with(quarantine_key("")) && upload.age_ns > kLongestCopy_ns;
    if (of_segment || of_quarantine) PERDURE_CHECK(objects_->abort(upload));
  }
  PERDURE_TRY(const auto all, names());
  for (const std::string& name : all) {
    PERDURE_TRY(const Marks marks, marks_of(*objects_, name));
    if (!marks.forgotten_ns.empty()) PERDURE_CHECK(finish_forgetting(*objects_, name));
    for (const RetiredMark& mark : marks.retired)
      PERDURE_CHECK(finish_removal(*objects_, {name, mark.version, mark.attempt}));
  }
  return {};
}

}  // namespace perdure::store
