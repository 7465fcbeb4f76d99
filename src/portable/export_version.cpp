#include "portable/export_version.hpp"

#include "base/hash.hpp"
#include "portable/chunking.hpp"

namespace perdure::portable {
namespace {

using base::Status;

/// One set on its way, with what its chunks are to be when they are read back.
class Moving {
 public:
  Moving(reader::StoredContent& content, const DataSet& set, Target& target, const Advance& advance)
      : content_(content), set_(set), target_(target), advance_(advance), extents_(extents()) {}

  Status write() {
    PERDURE_CHECK(target_.make(set_, extents_));
    const Status written = each([&](const array::Box& chunk) -> Status {
      PERDURE_CHECK(read(chunk));
      if (!target_.keeps_room()) clear_room(set_.type, buffer_);
      hashes_.push_back(base::hash128(buffer_));
      PERDURE_CHECK(target_.write(set_, chunk, buffer_));
      advance_(buffer_.size());
      return {};
    });
    if (!written) return written;
    if (hashes_.size() == chunks()) return {};
    return base::fail(PERDURE_CORRUPT, content_.id().text() + ", " + segment::region_text(set_.id, set_.label),
                      "what its ranks stored is not all of it");
  }

  Status compare() {
    std::size_t at = 0;
    return each([&](const array::Box& chunk) -> Status {
      buffer_.resize(chunk.elements() * set_.type.bytes());
      PERDURE_CHECK(target_.read(set_, chunk, buffer_));
      if (base::hash128(buffer_) != hashes_[at++])
        return base::fail(PERDURE_CORRUPT, set_.path + " " + chunk.text(), "what was read back is not what was written",
                          "this disk or memory is not to be trusted");
      advance_(buffer_.size());
      return {};
    });
  }

  /// The memory of its chunks: there may be many sets.
  void give_back() { buffer_ = {}; }

 private:
  array::Index extents() const {
    const bool boxes = set_.array != nullptr && !set_.array->boxes.stored().empty();
    return chunk_extents(set_.whole, boxes ? set_.array->boxes.stored().front().box : set_.whole, set_.type.bytes(),
                         target_.chunk_bytes());
  }
  std::uint64_t chunks() const { return set_.whole.empty() ? 0 : ChunkGrid(set_.whole, extents_).chunks(); }

  /// In the order of the captures: chunks of the store are read once, but for those at the edges of boxes.
  template <class Take>
  Status each(Take&& take) {
    if (set_.whole.empty()) return {};
    const ChunkGrid grid(set_.whole, extents_);
    if (set_.array == nullptr) return grid.each_in(set_.whole, take);
    for (const auto& stored : set_.array->boxes.stored())
      if (!stored.box.empty()) PERDURE_CHECK(grid.each_in(stored.box, take));
    return {};
  }

  Status read(const array::Box& chunk) {
    buffer_.resize(chunk.elements() * set_.type.bytes());
    if (set_.array != nullptr) return content_.read(*set_.array, chunk, buffer_);
    return content_.read_local(set_.local, chunk.begin[0], buffer_);
  }

  reader::StoredContent& content_;
  const DataSet& set_;
  Target& target_;
  const Advance& advance_;
  const array::Index extents_;
  std::vector<base::Hash128> hashes_;
  std::vector<std::byte> buffer_;
};

}  // namespace

Status export_sets(reader::StoredContent& content, const std::vector<DataSet>& sets, Target& target, bool verify,
                   const Advance& advance) {
  std::vector<Moving> moving;
  moving.reserve(sets.size());
  for (const DataSet& set : sets) {
    moving.emplace_back(content, set, target, advance);
    PERDURE_CHECK(moving.back().write());
    moving.back().give_back();
  }
  PERDURE_CHECK(target.finish());
  if (!verify) return {};
  for (Moving& one : moving) {
    PERDURE_CHECK(one.compare());
    one.give_back();
  }
  return {};
}

}  // namespace perdure::portable
