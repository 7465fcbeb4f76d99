#pragma once
// Reads one whole version of a store by the names of its regions: without MPI, and without the program that wrote it.
#include <functional>
#include <optional>
#include <string>

#include "plan/lineage.hpp"
#include "reader/join.hpp"
#include "reader/verified_chunks.hpp"

namespace perdure::reader {

/// Returns the segments of the version that this number means on the current line, or on that of `branch`. Among
/// several attempts at it, it takes the newest whole one. Without a number, it takes the newest whole version there.
/// PERDURE_NOT_FOUND: there is none, or only on a branch that was left, which the text names. PERDURE_INCOMPLETE:
/// segments of each are missing.
base::Result<store::VersionListing> find_version(store::Store& store, const std::string& name,
                                                 std::optional<std::uint64_t> version,
                                                 std::optional<plan::Branch> branch = std::nullopt);

/// One thread at a time. It keeps at most 256 MiB of chunks in memory. It verifies each byte with its whole chunk
/// before it returns it. PERDURE_CORRUPT about the segment: a chunk is damaged even when it is read past the page
/// cache. After an error the content of a target is undefined.
class StoredContent {
 public:
  /// Reads all manifests. `store` must outlive the object. PERDURE_INCOMPLETE: these segments are missing.
  /// PERDURE_CORRUPT: a manifest is damaged, or they contradict each other.
  static base::Result<StoredContent> open(store::Store& store, const store::VersionListing& listing,
                                          std::uint64_t kept_bytes = 256 * base::MiB);
  /// PERDURE_NOT_FOUND if the store does not have it.
  static base::Result<StoredContent> open(store::Store& store, const segment::VersionId& id);
  const segment::VersionId& id() const { return listing_.id; }
  /// Whether it has segments of other versions, too, whose bytes this class does not read.
  bool borrows() const { return borrows_; }
  const std::string& writer() const { return writer_; }  ///< the program and version that wrote it
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(parts_.size()); }
  /// All ascend by id, local ones of an id by rank. The references live as long as the object.
  const std::vector<StoredRegion>& regions() const { return joined_.regions; }
  const std::vector<StoredArray>& arrays() const { return joined_.arrays; }
  const std::vector<LocalRegion>& locals() const { return joined_.locals; }

  /// Finds a region by name, or by number ("5"). PERDURE_NOT_FOUND names the existing ones; PERDURE_INVALID_ARGUMENT:
  /// several have this name.
  base::Result<const StoredRegion*> find(const std::string& region) const;
  /// Returns nothing if the id is no array, or the rank has no such region.
  const StoredArray* array(std::int32_t id) const;
  const LocalRegion* local(std::uint32_t rank, std::int32_t id) const;

  /// Reads the elements of `box` one behind the other, the last dimension fastest. PERDURE_INVALID_ARGUMENT: the box is
  /// not inside of the array, or `target` has another size. PERDURE_CORRUPT also if no rank stored an element of it, or
  /// two did.
  base::Status read(const StoredArray& array, const array::Box& box, base::ByteSpan target);
  /// Reads elements [first, first + n) of a rank's own region; `target` has room for n.
  base::Status read_local(const LocalRegion& region, std::uint64_t first, base::ByteSpan target);

  /// Receives a box and its elements, packed as by read(), until each element of the array came once.
  using TakeSlab = std::function<base::Status(const array::Box& box, base::ConstByteSpan elements)>;
  /// Visits boxes of at most `most_bytes`, or of one element, in the order of storage: rank by rank. It reads each
  /// chunk once. Ends with the first error of `take`.
  base::Status for_each_slab(const StoredArray& array, std::uint64_t most_bytes, const TakeSlab& take);
  /// Does so for one rank's region: `take` gets the number of the first element.
  using TakeElements = std::function<base::Status(std::uint64_t first, base::ConstByteSpan elements)>;
  base::Status for_each_slab(const LocalRegion& region, std::uint64_t most_bytes, const TakeElements& take);

  /// Reads every byte of every segment, and returns all defects; empty: none. Calls `progress(bytes)` after each block.
  base::Result<std::vector<segment::Defect>> verify(const std::function<void(std::uint64_t)>& progress);
  /// Bytes of segments read since it was opened, in whole chunks.
  std::uint64_t bytes_read() const { return chunks_.bytes_read(); }

 private:
  StoredContent(store::Store& store, store::VersionListing listing, std::uint64_t kept_bytes)
      : store_(&store), listing_(std::move(listing)), chunks_(store, kept_bytes) {}
  ChunkPlace place(std::uint32_t rank, std::uint64_t chunk) const {
    return {&listing_.segments[parts_[rank].segment], &parts_[rank].piece, static_cast<std::size_t>(chunk)};
  }
  base::Status read_manifests();
  base::Status read_capture(std::uint32_t rank, std::uint64_t begin, base::ByteSpan target, const std::string& what);
  base::Status check_cover(const StoredArray& array, const array::Box& box) const;

  store::Store* store_;
  store::VersionListing listing_;
  std::vector<RankPart> parts_;  ///< by rank; their entries are in joined_ instead
  Joined joined_;
  bool borrows_ = false;
  std::string writer_;
  VerifiedChunks chunks_;
};

struct OpenedVersion {
  store::VersionListing listing;
  StoredContent content;
};

/// Does find_version() and StoredContent::open() beside a job that writes: if retention removes the newest version
/// meanwhile, it opens the next newest. An opened version can be read to its end, up to VerifiedChunks::kMostOpen
/// segments.
base::Result<OpenedVersion> open_version(store::Store& store, const std::string& name,
                                         std::optional<std::uint64_t> version,
                                         std::optional<plan::Branch> branch = std::nullopt);

}  // namespace perdure::reader
