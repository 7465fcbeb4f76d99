#include "automatic/perdure_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "automatic/failure.hpp"
#include "perdure/perdure_ranks.h"

namespace perdure::automatic {
namespace {

constexpr int kPlace = 0;  // the region of the place; box n has region n + 1

// A place grows with the run, and ranks must agree on each change of a region's size. So its region grows in large
// steps, and begins with the size in use.
std::vector<std::byte> with_room(std::span<const std::byte> place) {
  const std::uint64_t size = place.size(), needs = size + sizeof size;
  const std::uint64_t step = std::max<std::uint64_t>(std::bit_ceil(needs) / 8, 4096);
  std::vector<std::byte> all((needs + step - 1) / step * step);
  std::memcpy(all.data(), &size, sizeof size);
  std::copy(place.begin(), place.end(), all.begin() + sizeof size);
  return all;
}

std::optional<std::vector<std::byte>> without_room(const std::vector<std::byte>& all) {
  std::uint64_t size = 0;
  if (all.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, all.data(), sizeof size);
  if (size > all.size() - sizeof size) return std::nullopt;
  const auto first = all.begin() + sizeof size;
  return std::vector(first, first + static_cast<std::ptrdiff_t>(size));
}

// In Perdure the last dimension is the fastest.
unsigned dimension_there(const SavedBox& saved, unsigned d) {
  return saved.set->x_first ? saved.box.dimensions - 1 - d : d;
}

/// Extents and indices as in Perdure: relative to the box's beginning, the last dimension the fastest.
struct Indices {
  std::array<std::uint64_t, track::kMostDimensions> begin{}, end{};
  Strides strides{};
};

Indices indices_of(const Part& part, const SavedBox& saved) {
  const Box& of = saved.box;
  Indices made;
  for (unsigned d = 0; d < of.dimensions; ++d) {
    const unsigned to = dimension_there(saved, d);
    made.begin[to] = static_cast<std::uint64_t>(part.box.begin[d] - of.begin[d]);
    made.end[to] = static_cast<std::uint64_t>(part.box.end[d] - of.begin[d]);
    made.strides[to] = part.strides[d];
  }
  return made;
}

class PerdureStore final : public CheckpointStore {
 public:
  PerdureStore(perdure_t* handle, std::string name, bool at_once)
      : handle_(handle), name_(std::move(name)), at_once_(at_once) {}

  std::optional<std::vector<std::byte>> newest() override {
    unprotect_all();
    place_.assign(1, std::byte{0});  // if only an array is protected, any number of ranks matches
    must(protect_place(), "place");
    const perdure_status found = perdure_latest(native(), name_.c_str(), &version_);
    if (found == PERDURE_NOT_FOUND) {
      version_ = 0;
      return std::nullopt;
    }
    must(found, "checkpoint");
    if (version_ == damaged_)
      throw Failure(PERDURE_CORRUPT, "checkpoint '" + name_ + "', version " + std::to_string(version_) +
                                         ": it is damaged, and cannot be set aside (" + why_ + ")");
    perdure_array_info info{};
    const std::string other = "checkpoint '" + name_ + "' was not made by its loops: give this one another name";
    const perdure_status asked = perdure_stored_array(native(), name_.c_str(), version_, kPlace, &info);
    if (asked == PERDURE_MISMATCH) throw Failure(PERDURE_MISMATCH, other);
    must(asked, "checkpoint");
    if (info.dimensions != 1 || info.element_bytes != 1) throw Failure(PERDURE_MISMATCH, other);
    place_.assign(info.extents[0], std::byte{0});
    must(protect_place(), "place");
    if (!restored({kPlace})) return newest();
    restored_ = version_;
    auto place = without_room(place_);
    if (!place) throw Failure(PERDURE_MISMATCH, other);
    return place;
  }

  // After swaps of data sets, boxes may lie where other boxes lay. So all memory is unprotected before the first box is
  // protected.
  bool restore(std::span<const SavedBox> boxes) override {
    unprotect_boxes();
    std::vector<int> ids;
    for (const SavedBox& box : boxes) {
      must(protect(box), "data set '" + box.set->data.name + "'");
      ids.push_back(static_cast<int>(box.number) + 1);
    }
    return restored(ids);
  }

  // A rank that cannot write makes the call all the same, with an invalid name. So all ranks get an error and keep the
  // same version number.
  tl::expected<void, std::string> write(std::span<const std::byte> place, std::span<const SavedBox> boxes) override {
    unprotect_all();  // other boxes may have this memory now
    place_ = with_room(place);
    perdure_status done = protect_place();
    for (const SavedBox& box : boxes)
      if (done == PERDURE_OK) done = protect(box);
    std::string why = done == PERDURE_OK ? "" : perdure_error_text(native());
    const perdure_status written =
        perdure_checkpoint(native(), done == PERDURE_OK ? name_.c_str() : nullptr, ++version_);
    if (written != PERDURE_OK && why.empty()) why = perdure_error_text(native());
    if (at_once_ && written == PERDURE_OK &&
        perdure_wait(native(), name_.c_str(), version_, PERDURE_LEVEL_PROCESS, PERDURE_FOREVER) != PERDURE_OK)
      why = perdure_error_text(native());
    if (why.empty()) return {};
    return tl::unexpected(why);
  }

  tl::expected<void, std::string> refuse(const std::string& why) override {
    (void)perdure_checkpoint(native(), nullptr, ++version_);
    return tl::unexpected(why);
  }

  // A refused write left no version of that number.
  void retire_written() override { (void)perdure_retire(native(), name_.c_str(), version_); }
  void retire_restored() override {
    for (std::int64_t version = version_; version >= restored_; --version)
      (void)perdure_retire(native(), name_.c_str(), version);
  }

  Met meet(const Meeting& at, bool here) override {
    int found = 0;
    const perdure_status met = perdure_meet(native(), at.place.c_str(), at.mark, at.seconds, here ? 1 : 0, &found);
    if (met == PERDURE_MISMATCH && found < 0) return {false, perdure_error_text(native())};
    must(met, "checkpoint '" + name_ + "'");
    return {found != 0, {}};
  }
  tl::expected<void, std::string> finish() override {
    std::string why;
    if (perdure_wait(native(), name_.c_str(), version_, PERDURE_LEVEL_STORE, PERDURE_FOREVER) != PERDURE_OK)
      why = perdure_error_text(native());
    (void)perdure_close(&handle_);
    if (why.empty()) return {};
    return tl::unexpected(why);
  }

 private:
  perdure_t* native() const { return handle_; }
  void must(perdure_status done, const std::string& what) const {
    if (done != PERDURE_OK) throw Failure(done, what + ": " + perdure_error_text(native()));
  }
  void unprotect_all() {
    (void)perdure_unprotect(native(), kPlace);
    unprotect_boxes();
  }
  void unprotect_boxes() {
    for (std::size_t id = 1; id <= protected_; ++id) (void)perdure_unprotect(native(), static_cast<int>(id));
    protected_ = 0;
  }
  // Returns false if the damaged version was set aside.
  bool restored(const std::vector<int>& ids) {
    if (ids.empty()) return true;
    const perdure_status done = perdure_restore_regions(native(), name_.c_str(), version_, ids.data(), ids.size());
    if (done == PERDURE_CORRUPT || done == PERDURE_INCOMPLETE) {
      damaged_ = version_;
      why_ = perdure_error_text(native());
      return false;
    }
    must(done, "checkpoint");
    return true;
  }
  perdure_status protect_place() {
    const std::uint64_t bytes = place_.size();
    perdure_array array{};
    array.name = "place";
    array.type = "u1";
    array.dimensions = 1;
    array.extents = &bytes;
    array.description = "of a program's loops";
    return perdure_protect_replicated(native(), kPlace, &array, place_.data());
  }
  perdure_status protect(const SavedBox& saved) {
    const StoredSet& set = *saved.set;
    const std::string name = set.data.name + "." + std::to_string(saved.number);
    const std::string note = set.description + (set.description.empty() ? "" : "; ") + saved.box.text() + " of " +
                             set.data.box.text() + (set.x_first ? ", x first" : "");
    std::array<std::uint64_t, track::kMostDimensions> extents{};
    for (unsigned d = 0; d < saved.box.dimensions; ++d)
      extents[dimension_there(saved, d)] = static_cast<std::uint64_t>(saved.box.end[d] - saved.box.begin[d]);
    perdure_array array{};
    array.name = name.c_str();
    array.type = set.type.c_str();
    array.dimensions = static_cast<int>(saved.box.dimensions);
    array.extents = extents.data();
    array.unit = set.unit.empty() ? nullptr : set.unit.c_str();
    array.description = note.c_str();
    protected_ = std::max(protected_, saved.number + 1);
    const int id = static_cast<int>(saved.number) + 1;
    if (set.replicated) return perdure_protect_replicated(native(), id, &array, saved.parts.front().address);
    std::vector<Indices> indices;
    indices.reserve(saved.parts.size());
    std::vector<perdure_box> boxes;
    for (const auto& part : saved.parts) {
      const Indices& at = indices.emplace_back(indices_of(part, saved));
      boxes.push_back({part.address, at.begin.data(), at.end.data(), at.strides.data()});
    }
    return perdure_protect_global(native(), id, &array, boxes.data(), boxes.size());
  }

  perdure_t* handle_;
  std::string name_;
  bool at_once_;
  std::int64_t version_ = 0, restored_ = 1;  // the newest version, and the one that the run resumed from
  std::int64_t damaged_ = -1;                // the last version that could not be restored, and why
  std::string why_;
  std::size_t protected_ = 0;  // number of boxes
  std::vector<std::byte> place_;
};

}  // namespace

std::unique_ptr<CheckpointStore> perdure_store(perdure_t* handle, std::string name, bool at_once) {
  return std::make_unique<PerdureStore>(handle, std::move(name), at_once);
}

}  // namespace perdure::automatic
