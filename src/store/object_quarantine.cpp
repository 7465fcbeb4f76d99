// Sets a segment aside, so that it is where it was or in quarantine, and in quarantine never without its report:
//   1. Put the report .quarantine/<name>.<version>.<file name>.json. A taken name gets a number.
//   2. Copy the segment to .quarantine/<name>.<version>.<file name>.
//   3. Put an empty object in its place, if it is still the damaged one.
// Step 3 decides in one call: removing the segment could hit another one that was published meanwhile.
#include "store/object_quarantine.hpp"

#include "segment/segment.hpp"
#include "store/object_keys.hpp"
#include "store/object_source.hpp"
#include "store/set_aside.hpp"

namespace perdure::store {
namespace {

using base::Result;
using base::Status;

constexpr int kMostNames = 1000;

/// 1. The name in quarantine that has the report now.
Result<std::string> put_report(Objects& objects, const std::string& wanted, const std::string& text) {
  std::string name = wanted;
  for (int number = 2; number <= kMostNames; ++number) {
    const auto put = objects.put(quarantine_key(quarantine_report(name)), base::as_bytes(text), PutCondition::absent());
    if (put) return name;
    if (put.error().code != PERDURE_EXISTS) return base::fail(put.error());
    name = wanted + "." + std::to_string(number);
  }
  return base::fail(PERDURE_NO_SPACE, objects.properties().location + "/" + quarantine_key(wanted),
                    "it was set aside " + std::to_string(kMostNames) + " times",
                    "look why it is damaged each time, and empty the quarantine");
}

Result<bool> is_aside(Objects& objects, const std::string& name) {
  const auto there = objects.stat(quarantine_key(name));
  if (!there && there.error().code != PERDURE_NOT_FOUND) return base::fail(there.error());
  return there.has_value();
}

}  // namespace

Status put_aside(Objects& objects, const ObjectInfo& there, const segment::VersionId& id, const base::Error& why) {
  const std::string file = there.key.substr(there.key.rfind('/') + 1);
  const std::string text = aside_report(objects.properties().location + "/" + there.key, id, why);
  PERDURE_TRY(const std::string name, put_report(objects, quarantined_name(id, file), text));
  Status copied = copy_object(objects, there, quarantine_key(name));  // 2
  if (!copied) (void)objects.remove(quarantine_key(quarantine_report(name)));
  return copied;
}

Status quarantine_object(Objects& objects, const SegmentRef& segment, const segment::VersionId& id,
                         const base::Error& why) {
  const segment::VersionId attempt{id.name, id.version, segment.attempt};
  const std::string key = segment_key(attempt, segment.index, segment.count);
  const std::string path = objects.properties().location + "/" + key;
  const auto there = objects.stat(key);
  if (!there && there.error().code != PERDURE_NOT_FOUND) return base::fail(there.error());
  if (!there || there->bytes == 0) {
    const std::string file = segment::file_name(segment.index, segment.count, segment.attempt);
    PERDURE_TRY(const bool done, is_aside(objects, quarantined_name(attempt, file)));
    if (done) return {};  // somebody found the same damage
    return base::fail(PERDURE_NOT_FOUND, path, "no such segment to set aside");
  }
  const auto another = [&] {
    return base::fail(PERDURE_NOT_FOUND, path, "it was written anew since it was read; nothing was set aside");
  };
  if (!segment.identity.empty() && there->tag != segment.identity) return another();
  PERDURE_CHECK(put_aside(objects, *there, attempt, why));
  const auto emptied = objects.put(key, {}, PutCondition::tagged(there->tag));  // 3
  if (emptied) return {};
  if (emptied.error().code != PERDURE_EXISTS && emptied.error().code != PERDURE_NOT_FOUND)
    return base::fail(emptied.error());
  // A put whose answer was lost is tried again, and meets itself.
  const auto now = objects.stat(key);
  return now && now->bytes == 0 ? Status() : Status(another());
}

Result<std::vector<QuarantinedSegment>> quarantined_objects(Objects& objects, const std::string& name) {
  const std::string prefix = quarantine_key(name + ".");
  PERDURE_TRY(const auto entries, objects.list(prefix, Depth::all));
  std::vector<QuarantinedSegment> found;
  for (const ObjectInfo& entry : entries) {
    const std::string file = entry.key.substr(quarantine_key("").size());
    if (file.ends_with(".json")) continue;
    auto segment = parse_quarantined(file, name);
    if (!segment) continue;
    segment->path = objects.properties().location + "/" + entry.key;
    found.push_back(std::move(*segment));
  }
  return found;
}

}  // namespace perdure::store
