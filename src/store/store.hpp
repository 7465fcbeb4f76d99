#pragma once
// A store is the external, durable home of checkpoints. There is one interface; members are enrolled in
// store/conformance_test.cpp.
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
  std::string location;  ///< absolute path or URL, for messages; a segment's path behind it names that segment
  bool writable = true;
  bool resumable = false;  ///< sinks can be read and kept, and resume() goes on with them
  /// Its segments are the files <directory>/<name>/<version>/<segment>. Empty for a store of another layout.
  std::string directory = {};
};

/// A segment being written. One flush worker calls begin/commit/abort; several call write() at once. No byte is visible
/// before commit() returned. Destruction without commit aborts and leaves nothing behind, unless the sink was told to
/// keep its data.
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  /// Writes; may block, and may be repeated for the same range after an error. `offset` is from the start of the
  /// segment.
  virtual base::Status write(std::uint64_t offset, base::ConstByteSpan data) = 0;
  /// Makes everything durable, then visible, atomically. The head of the implementation numbers the steps.
  virtual base::Status commit() = 0;
  /// Reads written data at `offset`. PERDURE_UNSUPPORTED unless the store is resumable.
  virtual base::Status read(std::uint64_t offset, base::ByteSpan target) = 0;
  /// Says whether the sink leaves its data for Store::resume if it ends without a successful commit. Called by any
  /// thread.
  virtual void keep(bool kept) = 0;
};

/// One segment as the store lists it, judged by name only.
struct SegmentRef {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  segment::Attempt attempt;
  std::string path;           ///< within the store
  std::string identity = {};  ///< identity of the object that was read (segment::ByteSource::identity); empty: any
  PERDURE_FIELDS(index, count, attempt, path)
};

/// All segments of one attempt at one version that the store holds.
struct VersionListing {
  segment::VersionId id;
  std::uint32_t segment_count = 0;   ///< number of segments that it needs
  std::vector<SegmentRef> segments;  ///< existing ones, ascending by index
  bool all_present() const { return segment_count > 0 && segments.size() == segment_count; }
};

/// A segment of another version of the same name that a version borrows.
struct BorrowedSegment {
  std::uint64_t version = 0;  ///< version that owns it
  SegmentRef segment;
  segment::Borrowed described() const { return {version, {segment.index, segment.count, segment.attempt}}; }
};

/// Stores that keep borrowed segments implement this, too.
class Lending {
 public:
  virtual ~Lending() = default;
  /// Keeps the data of `lent` as long as attempt `borrower`, even when its own version is removed before. Durable when
  /// it returns; a borrower that is never published is given a day. Repeatable. PERDURE_UNSUPPORTED: this file system
  /// cannot. PERDURE_NOT_FOUND: the segment is not there any more.
  virtual base::Status borrow(const segment::VersionId& borrower, const BorrowedSegment& lent) = 0;
  /// Gives the borrowed segments of `id`, by their versions and attempts. The paths work for Store::open(), and for
  /// borrow().
  virtual base::Result<std::vector<BorrowedSegment>> borrowed(const segment::VersionId& id) = 0;
};

/// Stores that keep small records beside the owner's implement this, too.
class Records {
 public:
  virtual ~Records() = default;
  /// Gives the launch that runs a process brought back of `name`. It has the same form as the owner's record, but says
  /// nothing of who writes versions. Empty: there is none.
  virtual base::Result<std::optional<Owner>> runner(const std::string& name) = 0;
  /// Sets it as Store::set_owner() does. PERDURE_NOT_FOUND: nothing has that name.
  virtual base::Status set_runner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) = 0;
  /// Gives the branches of `name` and the versions that they go on from, as last set by set_forks(). PERDURE_CORRUPT:
  /// the record is damaged.
  virtual base::Result<std::vector<plan::Fork>> forks(const std::string& name) = 0;
  /// Replaces them all, atomically for all readers. Only the name's owner calls it.
  virtual base::Status set_forks(const std::string& name, const std::vector<plan::Fork>& forks) = 0;
  /// When the programs that write `name` are to checkpoint and end, in nanoseconds of the wall clock. 0: nobody has
  /// asked. A posix store ignores requests of users other than this one and the administrator. Fails with
  /// PERDURE_CORRUPT if the record is damaged.
  virtual base::Result<std::uint64_t> halt(const std::string& name) = 0;
  /// 0 takes the request back. Repeatable. Fails with PERDURE_NOT_FOUND if there is nothing of that name.
  virtual base::Status set_halt(const std::string& name, std::uint64_t at_ns) = 0;
};

/// A segment in quarantine.
struct QuarantinedSegment {
  segment::VersionId id;
  std::string path;  ///< absolute, or the location's
  std::uint32_t index = 0, count = 0;
};

/// A file in a store other than its segments.
struct Residue {
  enum class Kind {
    temporary,   ///< a segment that was being written
    retired,     ///< the marker of a removal that was not finished
    foreign,     ///< a foreign file
    misplaced,   ///< a segment under a wrong name or in a wrong place: a defect
    quarantined  ///< set aside
  } kind = Kind::foreign;
  std::string path;  ///< absolute
  std::uint64_t bytes = 0;
  std::string name;  ///< name of the checkpoint, if it is known
  std::uint64_t version = 0;
  segment::Attempt attempt;  ///< temporary, retired, misplaced
  std::string report_text;   ///< quarantined: the text of its report; empty: none
  std::uint64_t age_ns = 0;  ///< since it was changed last, by the store's clock; 0: not known
};

/// Stands for an incarnation: nothing of the name exists, or nobody asked for one.
inline constexpr std::uint64_t kNoIncarnation = 1;
enum class Missing { leave, make };

/// Any process may call any of these at any time; concurrent writers of *different* segments never disturb each other.
class Store {
 public:
  virtual ~Store() = default;
  virtual const Properties& properties() const = 0;

  /// Creates the store's directories, if it is expected to be made there. PERDURE_UNAVAILABLE: the place is not there.
  /// Repeatable.
  virtual base::Status prepare() = 0;
  /// Starts writing a segment of `file_bytes` bytes. Room is reserved if the file system can, so that NO_SPACE comes
  /// early.
  virtual base::Result<std::unique_ptr<SegmentSink>> begin(const segment::Manifest& manifest,
                                                           std::uint64_t file_bytes) = 0;
  /// Goes on with the segment that an earlier sink left, kept or killed. PERDURE_NOT_FOUND when there is none,
  /// PERDURE_CORRUPT when it is not of this size, PERDURE_UNSUPPORTED unless the store is resumable.
  virtual base::Result<std::unique_ptr<SegmentSink>> resume(const segment::Manifest& manifest,
                                                            std::uint64_t file_bytes) = 0;
  /// Gives the unpublished data of this segment that sinks have written by now. It may be wrong, and may vanish. Empty
  /// if there is none, or the store is not resumable.
  virtual base::Result<std::vector<std::unique_ptr<segment::ByteSource>>> unpublished(const segment::VersionId& id,
                                                                                      std::uint32_t index,
                                                                                      std::uint32_t count) = 0;
  /// Removes leftovers of an earlier sink of this segment. Repeatable.
  virtual base::Status discard(const segment::VersionId& id, std::uint32_t index, std::uint32_t count) = 0;
  virtual base::Result<std::vector<std::string>> names() = 0;
  /// Lists every attempt of every version of `name`, ascending by (version, attempt); incomplete ones too, but never
  /// retired ones.
  virtual base::Result<std::vector<VersionListing>> list(const std::string& name) = 0;
  virtual base::Result<std::unique_ptr<segment::ByteSource>> open(const SegmentRef& segment) = 0;
  /// Opens it for a second, independent reading, which does not use this machine's page cache.
  virtual base::Result<std::unique_ptr<segment::ByteSource>> open_anew(const SegmentRef& segment) = 0;
  /// Hides this attempt at once, then deletes it. Repeatable; `clean` finishes the work of a killed process.
  virtual base::Status remove(const segment::VersionId& id) = 0;
  /// Makes published segments of this attempt durable, even if their own writer could not make sure of that. Call it
  /// before giving something up because the attempt is there. Repeatable.
  virtual base::Status make_lasting(const segment::VersionId& id) = 0;
  /// Sets a segment aside with a report (`why`); it is not listed any more and not deleted. PERDURE_NOT_FOUND when the
  /// present object is not the one of `segment.identity`.
  virtual base::Status quarantine(const SegmentRef& segment, const segment::VersionId& id, const base::Error& why) = 0;
  /// Lists the quarantined segments of `name` (any version), in no particular order.
  virtual base::Result<std::vector<QuarantinedSegment>> set_aside(const std::string& name) = 0;
  /// Forgets all attempts at versions of `name` up to this time (Attempt::created_ns), for everybody. They are not
  /// listed, set_aside() does not tell of them, they are never published later, and their data is deleted. Only
  /// quarantine keeps its files. Repeatable; a later time counts.
  virtual base::Status forget(const std::string& name, std::uint64_t until_ns) = 0;
  /// Gives the time passed to forget(); 0: never.
  virtual base::Result<std::uint64_t> forgotten(const std::string& name) = 0;
  /// Gives the launch that writes versions of `name`; empty: none. It does not say whether the launch still lives.
  virtual base::Result<std::optional<Owner>> owner(const std::string& name) = 0;
  /// Makes `next` the owner of `name` if its owner is still `expected` (empty: none), atomically for all readers.
  /// Otherwise PERDURE_EXISTS. forget() leaves a name without owner.
  virtual base::Status set_owner(const std::string& name, const std::optional<Owner>& expected, const Owner& next) = 0;
  /// Gives the incarnation of the place of `name`. It tells the place from one that is put in its stead later, as when
  /// somebody removes the store and it is made anew. An engine that remembers another incarnation brought nothing to
  /// this place. It lasts as long as the versions there; never 0. If there is none, `make` draws one.
  virtual base::Result<std::uint64_t> incarnation(const std::string& name, Missing missing) = 0;
  /// Lists the files other than the segments that list() shows.
  virtual base::Result<std::vector<Residue>> residue() = 0;
  /// Lists the quarantined ones among them. A store that knows where to look need not look at its versions.
  virtual base::Result<std::vector<Residue>> quarantined() {
    auto found = residue();
    if (found) std::erase_if(*found, [](const Residue& one) { return one.kind != Residue::Kind::quarantined; });
    return found;
  }
  /// Deletes leftovers of killed processes: hidden versions, and temporary segments of which `abandoned` says that no
  /// engine writes them any more.
  virtual base::Status clean(
      const std::function<bool(const segment::VersionId&, std::uint32_t segment_index)>& abandoned) = 0;
  /// Gives the Lending of a store that keeps segments for other versions than their own; else nullptr.
  virtual Lending* lending() { return nullptr; }
  /// Gives the Records of a store that keeps small records beside a name's versions; else nullptr.
  virtual Records* records() { return nullptr; }
};

/// Call Lending::borrow and Lending::borrowed of any store. A store without Lending refuses the first, and has nothing
/// borrowed.
base::Status borrow(Store& store, const segment::VersionId& borrower, const BorrowedSegment& lent);
base::Result<std::vector<BorrowedSegment>> borrowed(Store& store, const segment::VersionId& id);
/// Call the functions of Records of any store. A store without Records has no runner and no forks, so each branch
/// counts as a run of its own. It refuses to set them (PERDURE_UNSUPPORTED).
base::Result<std::optional<Owner>> runner(Store& store, const std::string& name);
base::Status set_runner(Store& store, const std::string& name, const std::optional<Owner>& expected, const Owner& next);
base::Result<std::vector<plan::Fork>> recorded_forks(Store& store, const std::string& name);
/// Does the same, but treats a damaged record as missing: then more counts as another run's, and is kept.
base::Result<std::vector<plan::Fork>> forks(Store& store, const std::string& name);
base::Status set_forks(Store& store, const std::string& name, const std::vector<plan::Fork>& forks);

/// Options of the stores, store.*, without that prefix: "s3.endpoint".
using StoreOptions = std::map<std::string, std::string>;
/// Names the option for the writer here: another one for each catalog, and the same after every restart of its engine.
/// Only that writer goes on with its leftovers of a segment, begins them anew or discards them; clean() does the rest.
inline constexpr const char* kWriter = "writer";

/// Says whose names in a shared store are read and written. For a job, those of this user, of the store's owner and of
/// the administrator; for tools, everybody's.
enum class Whose { trusted, anybodys };

/// Returns how the names of the variables begin that the store at a location reads its credentials from; empty: none.
std::string_view credentials_family(std::string_view location);
/// Makes the store for a location, SCHEME://PLACE; a plain path is a posix directory. PERDURE_INVALID_ARGUMENT for an
/// unknown scheme, with the known ones.
base::Result<std::unique_ptr<Store>> make_store(const std::string& location, const StoreOptions& options = {},
                                                Whose whose = Whose::trusted);
/// The file of a store implements this, and its row in registry.cpp names it. `place`: the text behind the scheme.
using MakeStore = base::Result<std::unique_ptr<Store>>(const std::string& place, const StoreOptions& options,
                                                       Whose whose);

/// Reads the manifests of a version's segments and judges. It is complete exactly when every segment and every borrowed
/// one is there, each manifest verifies, all agree, and every rank appears once. Returns the manifests in segment
/// order. Does not read the chunks, nor the tables of format 3. At 4,096 nodes of 128 ranks the indexes are 25 MB
/// together, the tables of 100,000 regions per rank half a terabyte.
base::Result<std::vector<segment::Manifest>> read_version(Store& store, const VersionListing& listing);
/// Checks that the store has the segments that a version's segments borrow. PERDURE_NOT_FOUND: one is missing.
base::Status check_borrowed(Store& store, const segment::VersionId& id,
                            const std::vector<const segment::Manifest*>& manifests);
/// Judges in the same way, except borrowed segments, for a caller that has read the manifests, in the order of the
/// listing.
base::Status check_version(const VersionListing& listing, const std::vector<const segment::Manifest*>& manifests);

}  // namespace perdure::store
