// A rename takes these steps in this order, so that a kill at any moment loses nothing:
//   1. It puts a directory that was renamed by hand aside, as its copy gets its name (only then).
//   2. It writes the records of forks and of the owner, who has ended, under the new name.
//   3. It publishes each segment under the new name, those of the newest version first; borrowed segments come before
//      their borrower.
//   4. It removes segments again that only were borrowed: their own version is gone.
//   5. It reads back every byte under the new name.
//   6. It forgets the old versions, all in one step, and removes a directory that was put aside.
// A repeated rename finds the finished work by 1 and 3.
#include "inspect/rename_name.hpp"

#include <algorithm>
#include <set>

#include "base/bytes.hpp"
#include "inspect/audit.hpp"
#include "os/file.hpp"
#include "os/system.hpp"
#include "segment/manifest_codec.hpp"
#include "segment/reader.hpp"
#include "store/renamed.hpp"

namespace perdure::inspect {
namespace {

using base::Result;
using base::Status;

constexpr std::uint64_t kBlockBytes = 4 * base::MiB;

Result<std::vector<store::VersionListing>> list_there(store::Store& store, const std::string& name) {
  auto listed = store.list(name);
  if (!listed && listed.error().code == PERDURE_NOT_FOUND) return std::vector<store::VersionListing>();
  return listed;
}

/// A segment that cannot be read says no name: a later check tells why.
Result<NameContent> content_of(store::Store& store, const std::string& name) {
  PERDURE_TRY(const auto listings, list_there(store, name));
  NameContent content;
  std::set<std::string> said;
  for (const auto& listing : listings) {
    content.attempts.insert({listing.id.version, listing.id.attempt});
    for (const auto& segment : listing.segments) {
      const auto source = store.open(segment);
      if (!source) continue;
      if (const auto manifest = segment::read_contents(**source)) said.insert(manifest->id.name);
    }
  }
  if (said.size() == 1) content.said = *said.begin();
  PERDURE_TRY(content.forgotten_ns, store.forgotten(name));
  return content;
}

std::string directory_of(const RenamePlan& plan) {
  if (plan.source == RenameSource::old_name) return plan.old_name;
  return plan.source == RenameSource::new_name ? plan.new_name : store::aside_name(plan.new_name);
}

/// Checks by its manifests, under the name that they say.
Status check_whole(store::Store& store, store::VersionListing listing, const std::string& said) {
  listing.id.name = said;
  std::vector<segment::Manifest> manifests;
  for (const auto& segment : listing.segments) {
    PERDURE_TRY(const auto source, store.open(segment));
    PERDURE_TRY(manifests.emplace_back(), segment::read_contents(*source));
  }
  std::vector<const segment::Manifest*> all;
  for (const auto& manifest : manifests) all.push_back(&manifest);
  return store::check_version(listing, all);
}

base::Error not_whole(const RenamePlan& plan, const store::VersionListing& listing, base::Error error) {
  const std::string version = plan.old_name + "@" + std::to_string(listing.id.version);
  if (error.code == PERDURE_NOT_FOUND) error.code = PERDURE_INCOMPLETE;
  error.remedy = plan.source == RenameSource::old_name
                     ? "remove that version first: perdure prune " + version
                     : "give the directory its old name back, and remove that version first: perdure prune " + version;
  return error;
}

/// Chunks of a temporary segment may be nowhere else: its writer has to go on.
Status check_no_temporaries(store::Store& store, const std::string& directory) {
  PERDURE_TRY(const auto residue, store.residue());
  for (const auto& piece : residue)
    if (piece.kind == store::Residue::Kind::temporary && piece.name == directory)
      return base::fail(PERDURE_BUSY, "checkpoint " + directory,
                        "version " + std::to_string(piece.version) + " was being written when its job ended",
                        "start that job again under the old name, or give it up: perdure prune --leftovers");
  return {};
}

/// Copies segments into another name. Each segment is copied once, however often it is asked for.
class SegmentCopier {
 public:
  SegmentCopier(store::Store& store, std::string name, const RenameAdvance& advance)
      : store_(store), name_(std::move(name)), advance_(advance) {}

  /// Copies all segments of a version of the directory, and first those of other versions that it borrows.
  Status copy(const store::VersionListing& listing) {
    const segment::VersionId id{name_, listing.id.version, listing.id.attempt};
    PERDURE_TRY(const auto lent, store::borrowed(store_, listing.id));
    for (const store::BorrowedSegment& one : lent) {
      PERDURE_CHECK(copy_segment(one.version, one.segment));
      lenders_.insert({one.version, one.segment.attempt});
      store::BorrowedSegment copied = one;
      copied.segment.path = path_of(one.version, one.segment);
      copied.segment.identity.clear();
      PERDURE_CHECK(store::borrow(store_, id, copied));
    }
    for (const store::SegmentRef& segment : listing.segments) PERDURE_CHECK(copy_segment(listing.id.version, segment));
    return {};
  }
  /// The versions from which segments were borrowed.
  const std::set<StoredAttempt>& lenders() const { return lenders_; }

 private:
  std::string path_of(std::uint64_t version, const store::SegmentRef& segment) const {
    return name_ + "/" + std::to_string(version) + "/" +
           segment::file_name(segment.index, segment.count, segment.attempt);
  }
  Status copy_segment(std::uint64_t version, const store::SegmentRef& segment) {
    const std::string path = path_of(version, segment);
    if (!copied_.insert(path).second) return {};
    store::SegmentRef target = segment;
    target.path = path;
    target.identity.clear();
    if (store_.open(target)) return {};  // by a rename that was killed; it is read back with all others
    PERDURE_TRY(const auto source, store_.open(segment));
    return write(*source);
  }
  Status write(const segment::ByteSource& source) {
    PERDURE_TRY(const segment::Manifest old, segment::read_manifest(source));
    segment::Manifest manifest = old;
    manifest.id.name = name_;
    manifest.tables.clear();
    const std::uint64_t tail = segment::lay_out(manifest);
    PERDURE_TRY(const auto sink, store_.begin(manifest, tail + segment::tail_bytes(manifest, tail)));
    for (std::size_t p = 0; p < old.pieces.size(); ++p)
      for (std::size_t c = 0; c < old.pieces[p].chunks.size(); ++c)
        PERDURE_CHECK(write_chunk(source, old.pieces[p].chunks[c], manifest.pieces[p].chunks[c].offset, *sink));
    PERDURE_CHECK(sink->write(0, segment::encode_header(manifest)));
    PERDURE_CHECK(segment::write_tail(
        manifest, tail, [&](std::uint64_t offset, base::ConstByteSpan data) { return sink->write(offset, data); }));
    return sink->commit();
  }
  /// Unwritten room stays so: a sink is zero where it was not written.
  Status write_chunk(const segment::ByteSource& source, const segment::ChunkEntry& chunk, std::uint64_t offset,
                     store::SegmentSink& sink) {
    for (std::uint64_t done = 0; done < chunk.length;) {
      const std::uint64_t left = chunk.length - done;
      const std::uint64_t zeros = std::min(left, source.zeros(chunk.offset + done));
      const std::uint64_t bytes = zeros > 0 ? zeros : std::min(left, kBlockBytes);
      if (zeros == 0) {
        buffer_.resize(bytes);
        PERDURE_CHECK(source.read(chunk.offset + done, buffer_));
        PERDURE_CHECK(sink.write(offset + done, buffer_));
      }
      done += bytes;
      advance_(bytes);
    }
    return {};
  }

  store::Store& store_;
  std::string name_;
  const RenameAdvance& advance_;
  std::set<std::string> copied_;
  std::set<StoredAttempt> lenders_;
  std::vector<std::byte> buffer_;
};

/// Step 1.
Status put_aside(store::Store& store, const RenamePlan& plan) {
  const std::string& root = store.properties().directory;
  if (root.empty())
    return base::fail(PERDURE_UNSUPPORTED, "checkpoint " + plan.new_name, "this store has no directories to rename");
  const std::string aside = store::aside_name(plan.new_name);
  PERDURE_TRY(const std::uint64_t forgotten_ns, store.forgotten(aside));
  if (forgotten_ns > 0) PERDURE_CHECK(os::remove_tree(root + "/" + aside));  // residue of a killed rename
  PERDURE_CHECK(os::rename_to_free(root + "/" + plan.new_name, root + "/" + aside));
  return os::sync_directory(root);
}

/// Step 2. An unreadable record has nothing to pass on.
Status copy_records(store::Store& store, const std::string& from, const std::string& to) {
  PERDURE_TRY(const auto forks, store::forks(store, from));
  if (!forks.empty()) PERDURE_CHECK(store::set_forks(store, to, forks));
  const auto owner = store.owner(from);
  if (!owner || !*owner) return {};
  PERDURE_TRY(const auto before, store.owner(to));
  store::Owner next = **owner;
  next.ended = true;
  return before == next ? Status() : store.set_owner(to, before, next);
}

/// Step 4.
Status remove_lenders(store::Store& store, const RenamePlan& plan, const std::set<StoredAttempt>& lenders) {
  std::set<StoredAttempt> own;
  for (const auto& listing : plan.versions) own.insert({listing.id.version, listing.id.attempt});
  for (const auto& [version, attempt] : lenders)
    if (!own.contains({version, attempt})) PERDURE_CHECK(store.remove({plan.new_name, version, attempt}));
  return {};
}

/// Step 5.
Status read_back(store::Store& store, const RenamePlan& plan, const RenameAdvance& advance) {
  PERDURE_TRY(const AuditPlan audited, plan_audit(store, plan.new_name, std::nullopt, std::nullopt));
  const AuditResult result = audit(store, audited, os::cpu_count(), advance);
  if (!result.defects.empty()) return base::fail(result.defects.front().error);
  PERDURE_TRY(const auto there, store.list(plan.new_name));
  for (const auto& listing : plan.versions) {
    const segment::VersionId id{plan.new_name, listing.id.version, listing.id.attempt};
    const auto found = std::find_if(there.begin(), there.end(), [&](const auto& one) { return one.id == id; });
    if (found == there.end())
      return base::fail(PERDURE_NOT_FOUND, id.text(), "it was written, and is not there any more");
    const auto whole = store::read_version(store, *found);
    if (!whole) return base::fail(whole.error());
    PERDURE_CHECK(store.make_lasting(id));
  }
  return {};
}

/// Step 6. Later versions on nodes are not concerned.
Status give_up_old(store::Store& store, const RenamePlan& plan, const std::string& directory) {
  std::uint64_t until_ns = 0;
  for (const auto& listing : plan.versions) until_ns = std::max(until_ns, listing.id.attempt.created_ns);
  PERDURE_CHECK(store.forget(directory, until_ns));
  if (directory == plan.old_name) return {};
  const std::string& root = store.properties().directory;
  if (!root.empty()) PERDURE_CHECK(os::remove_tree(root + "/" + directory));
  return {};
}

}  // namespace

Result<RenamePlan> plan_rename(store::Store& store, const std::string& old_name, const std::string& new_name) {
  const std::string aside = store::aside_name(new_name);
  for (const std::string& name : {old_name, new_name, aside}) PERDURE_CHECK(segment::check_name(name));
  RenameContents contents;
  PERDURE_TRY(contents.old_name, content_of(store, old_name));
  PERDURE_TRY(contents.new_name, content_of(store, new_name));
  PERDURE_TRY(contents.aside, content_of(store, aside));
  RenamePlan plan{old_name, new_name, RenameSource::old_name, {}, {}, 0, 0};
  PERDURE_TRY(plan.source, choose_rename_source(old_name, new_name, contents));
  plan.directory = directory_of(plan);
  PERDURE_TRY(plan.versions, list_there(store, plan.directory));
  std::sort(plan.versions.begin(), plan.versions.end(),
            [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  PERDURE_CHECK(check_no_temporaries(store, plan.directory));
  const std::string said = plan.source == RenameSource::old_name ? contents.old_name.said : old_name;
  for (const auto& listing : plan.versions) {
    if (auto whole = check_whole(store, listing, said); !whole)
      return base::fail(not_whole(plan, listing, std::move(whole.error())));
    for (const auto& segment : listing.segments) {
      PERDURE_TRY(const auto source, store.open(segment));
      plan.bytes += source->size();
      ++plan.segments;
    }
  }
  return plan;
}

Status check_sound(store::Store& store, const RenamePlan& plan, const RenameAdvance& advance) {
  for (const auto& listing : plan.versions) {
    auto segments = listing.segments;
    PERDURE_TRY(const auto lent, store::borrowed(store, listing.id));
    for (const store::BorrowedSegment& one : lent) segments.push_back(one.segment);
    for (const auto& segment : segments) {
      PERDURE_TRY(const auto source, store.open_anew(segment));
      auto defects = segment::verify(*source, advance);
      if (!defects.empty()) return base::fail(not_whole(plan, listing, std::move(defects.front().error)));
    }
  }
  return {};
}

Status rename_stored(store::Store& store, const RenamePlan& plan, const RenameAdvance& advance) {
  std::string directory = plan.directory;
  if (plan.source == RenameSource::new_name) {
    PERDURE_CHECK(put_aside(store, plan));
    directory = store::aside_name(plan.new_name);
  }
  PERDURE_TRY(auto versions, store.list(directory));
  std::sort(versions.begin(), versions.end(), [](const auto& a, const auto& b) { return a.id.attempt > b.id.attempt; });
  PERDURE_CHECK(copy_records(store, directory, plan.new_name));
  SegmentCopier copier(store, plan.new_name, advance);
  for (const auto& listing : versions) PERDURE_CHECK(copier.copy(listing));
  PERDURE_CHECK(remove_lenders(store, plan, copier.lenders()));
  PERDURE_CHECK(read_back(store, plan, advance));
  return give_up_old(store, plan, directory);
}

}  // namespace perdure::inspect
