#pragma once
// The external, durable home of checkpoints. One interface; members are enrolled in store/conformance_test.cpp.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "segment/borrowed.hpp"
#include "segment/manifest.hpp"
#include "segment/reader.hpp"
#include "store/owner.hpp"

namespace perdure::store {

struct Properties {
  std::string kind;      ///< "posix"
  std::string location;  ///< absolute path or URL, for messages: with a segment's path behind it, it names that
  bool writable = true;
  bool resumable = false;  ///< sinks can be read and kept, and resume() goes on with them
  /// Its segments are the files <directory>/<name>/<version>/<segment>. Empty for a store of another layout.
  std::string directory = {};
};

/// A segment being written. Called by one flush worker for begin/commit/abort; write() by several workers at once.
/// Nothing is visible before commit() returned; destruction without commit aborts and leaves nothing behind, unless the
/// sink was told to keep what it has.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  /// May block; may be repeated for the same range after an error. `offset` from the start of the segment.
  virtual base::Status write(std::uint64_t offset, base::ConstByteSpan data) = 0;
  /// Makes everything durable, then visible, atomically. Numbered steps at the head of the implementation.
  virtual base::Status commit() = 0;
  /// Reads what was written at `offset`. PERDURE_UNSUPPORTED unless the store is resumable.
  virtual base::Status read(std::uint64_t offset, base::ByteSpan target) = 0;
  /// Whether the end of the sink without a successful commit leaves what was written, for Store::resume. Any thread.
  virtual void keep(bool kept) = 0;
};

/// One segment as the store lists it, judged by name only.
struct SegmentRef {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  segment::Attempt attempt;
  std::string path;  ///< within the store
  std::string identity =
      {};  ///< of the object that was read (segment::ByteSource::identity); empty: whichever is there
  PERDURE_FIELDS(index, count, attempt, path)
};

/// All segments of one attempt at one version that the store holds.
struct VersionListing {
  segment::VersionId id;
  std::uint32_t segment_count = 0;   ///< how many it needs
  std::vector<SegmentRef> segments;  ///< what is there, ascending by index
  bool all_present() const { return segment_count > 0 && segments.size() == segment_count; }
};

/// A segment of another version of the same name that one consists of, too.
struct BorrowedSegment {
  std::uint64_t version = 0;  ///< whose it is
  SegmentRef segment;
  segment::Borrowed described() const { return {version, {segment.index, segment.count, segment.attempt}}; }
};

/// Of versions that consist of others' bytes, too.
class Lending {
 public:
  virtual ~Lending() = default;
  /// What `lent` has stays as long as attempt `borrower`, also when its own version is removed before. Durable when it
  /// returns; a borrower that is never published is given a day. Repeatable. PERDURE_UNSUPPORTED: this file system
  /// cannot; PERDURE_NOT_FOUND: the segment is not there any more.
  virtual base::Status borrow(const segment::VersionId& borrower, const BorrowedSegment& lent) = 0;
  /// What it borrowed, by their versions and attempts. The paths are good for Store::open(), and for borrow().
  virtual base::Result<std::vector<BorrowedSegment>> borrowed(const segment::VersionId& id) = 0;
};

/// Small records beside the owner's.
class Records {
 public:
  virtual ~Records() = default;
  /// Who runs what was brought back of `name` (images of processes): of the same form as the owner's, but says nothing
  /// of who writes versions. Nobody: no value.
  virtual base::Result<std::optional<Owner>> runner(const std::string& name) = 0;
  /// As Store::set_owner(). PERDURE_NOT_FOUND: there is nothing of that name.
  virtual base::Status set_runner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) = 0;
  /// Which branches of `name` go on from which versions of others, as set_forks() was told last. PERDURE_CORRUPT: the
  /// record is damaged.
  virtual base::Result<std::vector<plan::Fork>> forks(const std::string& name) = 0;
  /// Replaces them all, at once for everybody who asks. Who owns the name calls it.
  virtual base::Status set_forks(const std::string& name, const std::vector<plan::Fork>& forks) = 0;
};

/// A segment in quarantine.
struct QuarantinedSegment {
  segment::VersionId id;
  std::string path;  ///< absolute, or the location's
  std::uint32_t index = 0, count = 0;
};

/// What lies in a store besides its segments.
struct Residue {
  enum class Kind {
    temporary,   ///< a segment that was being written
    retired,     ///< the marker of a removal that was not finished
    foreign,     ///< nothing of ours
    misplaced,   ///< a segment under a name or in a place where none belongs: a defect
    quarantined  ///< set aside
  } kind = Kind::foreign;
  std::string path;  ///< absolute
  std::uint64_t bytes = 0;
  std::string name;  ///< of the checkpoint, where that is known
  std::uint64_t version = 0;
  segment::Attempt attempt;  ///< temporary, retired, misplaced
  std::string report_text;   ///< quarantined: the text of its report; empty: none
  std::uint64_t age_ns = 0;  ///< since it was changed last, by the store's clock; 0: not known
};

/// As an incarnation: there is nothing of the name, or nobody asked for one.
inline constexpr std::uint64_t kNoIncarnation = 1;
enum class Missing { leave, make };

/// Any process may call any of these at any time; concurrent writers of *different* segments never disturb each other.
class Store {
 public:
  virtual ~Store() = default;
  virtual const Properties& properties() const = 0;

  /// Creates what the store needs, where it is expected to be made. PERDURE_UNAVAILABLE: that is not there. Repeatable.
  virtual base::Status prepare() = 0;
  /// Starts writing a segment of `file_bytes` bytes. Room is reserved where the file system can, so that NO_SPACE comes
  /// early.
  virtual base::Result<std::unique_ptr<SegmentSink>> begin(const segment::Manifest& manifest,
                                                           std::uint64_t file_bytes) = 0;
  /// Goes on with the segment that an earlier sink left, kept or killed. PERDURE_NOT_FOUND when there is none,
  /// PERDURE_CORRUPT when it is not of this size, PERDURE_UNSUPPORTED unless the store is resumable.
  virtual base::Result<std::unique_ptr<SegmentSink>> resume(const segment::Manifest& manifest,
                                                            std::uint64_t file_bytes) = 0;
  /// What sinks have written of this segment and not published, by now: nothing of it is known to be right, or to stay.
  /// Empty where there is none, and unless the store is resumable.
  virtual base::Result<std::vector<std::unique_ptr<segment::ByteSource>>> unpublished(const segment::VersionId& id,
                                                                                      std::uint32_t index,
                                                                                      std::uint32_t count) = 0;
  /// Removes what an earlier sink left of this segment. Repeatable.
  virtual base::Status discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) = 0;
  virtual base::Result<std::vector<std::string>> names() = 0;
  /// Every attempt of every version of `name`, ascending by (version, attempt); incomplete ones too. Retired ones
  /// never.
  virtual base::Result<std::vector<VersionListing>> list(const std::string& name) = 0;
  virtual base::Result<std::unique_ptr<segment::ByteSource>> open(const SegmentRef& segment) = 0;
  /// The same for a second, independent reading: what this machine's memory has of the segment is not used.
  virtual base::Result<std::unique_ptr<segment::ByteSource>> open_anew(const SegmentRef& segment) = 0;
  /// Hides this attempt at once, then deletes it. Repeatable; finishing what a killed process began is `clean`'s work.
  virtual base::Status remove(const segment::VersionId& id) = 0;
  /// For who gives something up because this attempt is there: what is published of it stays, also where its own writer
  /// could not make sure of that. Repeatable.
  virtual base::Status make_lasting(const segment::VersionId& id) = 0;
  /// Sets a segment aside with a report (`why`); it is not listed any more and not deleted. PERDURE_NOT_FOUND when what
  /// is there by now is another object than `segment.identity` says.
  virtual base::Status quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) = 0;
  /// What was set aside of `name` (any version), in no particular order.
  virtual base::Result<std::vector<QuarantinedSegment>> set_aside(const std::string& name) = 0;
  /// All attempts at versions of `name` up to this time (Attempt::created_ns) are gone from now on, for everybody: they
  /// are not listed, set_aside() does not tell of them, they are never published later, and what there is of them is
  /// deleted; only quarantine keeps its files. Repeatable; a later time counts.
  virtual base::Status forget(const std::string& name, std::uint64_t until_ns) = 0;
  /// The time given to forget(); 0: never.
  virtual base::Result<std::uint64_t> forgotten(const std::string& name) = 0;
  /// Who writes versions of `name`; nobody: no value. It says nothing about whether they still live.
  virtual base::Result<std::optional<Owner>> owner(const std::string& name) = 0;
  /// Makes `next` the owner of `name` if its owner is still `expected` (no value: nobody), at once for everybody who
  /// asks; else PERDURE_EXISTS. forget() leaves a name without owner.
  virtual base::Status set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) = 0;
  /// What tells the place of `name` from one that is put in its stead later, as when somebody removes the store and it
  /// is made anew: whoever remembers another one brought nothing to this place. Lasts as long as what was brought
  /// there; never 0. Where there is none, `make` draws one.
  virtual base::Result<std::uint64_t> incarnation(const std::string& name, Missing missing) = 0;
  /// What lies there besides the segments that list() shows.
  virtual base::Result<std::vector<Residue>> residue() = 0;
  /// What of that is in quarantine. A store that knows where to look need not look at its versions for that.
  virtual base::Result<std::vector<Residue>> quarantined() {
    auto found = residue();
    if (found) std::erase_if(*found, [](const Residue& one) { return one.kind != Residue::Kind::quarantined; });
    return found;
  }
  /// Deletes what killed processes left: hidden versions, and temporary segments of which `abandoned` says
  /// that no engine writes them any more.
  virtual base::Status clean(
      const std::function<bool(const segment::VersionId&, std::uint32_t segment_index)>& abandoned) = 0;
  /// Of a store that keeps segments for other versions than their own; else nothing.
  virtual Lending* lending() { return nullptr; }
  /// Of a store that keeps small records beside a name's versions; else nothing.
  virtual Records* records() { return nullptr; }
};

/// Lending::borrow and Lending::borrowed of any store: one that has no such thing refuses it, and has nothing.
base::Status borrow(Store& store, const segment::VersionId& borrower, const BorrowedSegment& lent);
base::Result<std::vector<BorrowedSegment>> borrowed(Store& store, const segment::VersionId& id);
/// Those of Records of any store: one that keeps none has nobody and no forks, so that each branch counts as a run of
/// its own, and refuses to be told otherwise (PERDURE_UNSUPPORTED).
base::Result<std::optional<Owner>> runner(Store& store, const std::string& name);
base::Status set_runner(Store& store, const std::string& name, const std::optional<Owner>& expected, const Owner& next);
base::Result<std::vector<plan::Fork>> recorded_forks(Store& store, const std::string& name);
/// The same, where a damaged record is as good as none: then more counts as another run's, and is kept.
base::Result<std::vector<plan::Fork>> forks(Store& store, const std::string& name);
base::Status set_forks(Store& store, const std::string& name, const std::vector<plan::Fork>& forks);

/// Options of the stores, store.*, without that prefix: "s3.endpoint".
using StoreOptions = std::map<std::string, std::string>;
/// As an option: who writes here, another one for each catalog, and the same after every restart of its engine. What a
/// writer left of a segment, only that writer goes on with, begins anew or discards; the rest is clean()'s work.
inline constexpr const char* kWriter = "writer";

/// Whose names in a shared store are read and written: those of this user, of whom the store belongs to and of the
/// administrator, as is right for a job; or, for tools, everybody's.
enum class Whose { trusted, anybodys };

/// The store for a location, SCHEME://PLACE; a plain path is a posix directory. PERDURE_INVALID_ARGUMENT for an unknown
/// scheme, with the known ones.
base::Result<std::unique_ptr<Store>> make_store(const std::string& location, const StoreOptions& options = {},
                                                Whose whose = Whose::trusted);
/// What the file of a store implements, and its row in registry.cpp names. `place`: what is behind the scheme.
using MakeStore = base::Result<std::unique_ptr<Store>>(const std::string& place, const StoreOptions& options,
                                                       Whose whose);

/// Reads what all segments of a version say of themselves and judges: complete exactly when every segment is there and
/// what it borrows, its manifest verifies, all agree, and every rank appears once. Returns the manifests in segment
/// order. The chunks are not read, nor are the tables of format 3: at 4,096 nodes of 128 ranks the indexes are 25 MB
/// together, the tables of 100,000 regions per rank half a terabyte.
base::Result<std::vector<segment::Manifest>> read_version(Store& store, const VersionListing& listing);
/// Whether the store has what the segments of a version borrow. PERDURE_NOT_FOUND: one is missing.
base::Status check_borrowed(Store& store, const segment::VersionId& id,
                            const std::vector<const segment::Manifest*>& manifests);
/// The same judgement for who has read the manifests, in the order of the listing; but for what they borrow.
base::Status check_version(const VersionListing& listing, const std::vector<const segment::Manifest*>& manifests);

}  // namespace perdure::store
