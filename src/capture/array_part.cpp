#include "capture/array_part.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "array/box_code.hpp"

namespace perdure::capture {
namespace {

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostLeft = 16384;  // of one box: each cut visits all of them

base::Error wrong(std::int32_t id, const segment::Label& label, const std::string& cause,
                  const std::string& remedy = "") {
  return {PERDURE_INVALID_ARGUMENT, segment::region_text(id, label), cause, remedy, false};
}

// Lays out the box densely with its ghosts around it.
std::optional<array::Strides> dense(const array::Box& box, const array::Index& ghosts, std::uint64_t element_bytes) {
  array::Strides strides{};
  auto stride = static_cast<std::int64_t>(element_bytes);
  for (unsigned d = box.dimensions; d > 0; --d) {
    strides[d - 1] = stride;
    std::uint64_t width = 0;
    if (__builtin_mul_overflow(ghosts[d - 1], std::uint64_t{2}, &width) ||
        __builtin_add_overflow(width, box.extent(d - 1), &width) || __builtin_mul_overflow(stride, width, &stride))
      return std::nullopt;
  }
  return strides;
}

// Returns the distances of the lowest and the highest element from the first, in bytes; nothing if memory cannot be so
// large.
std::optional<std::pair<std::int64_t, std::int64_t>> reach(const array::Box& box, const array::Strides& strides,
                                                           std::uint64_t element_bytes) {
  std::int64_t lowest = 0, highest = static_cast<std::int64_t>(element_bytes);
  for (unsigned d = 0; d < box.dimensions; ++d) {
    std::int64_t far = 0;
    if (__builtin_mul_overflow(strides[d], box.extent(d) - 1, &far)) return std::nullopt;
    if (__builtin_add_overflow(far < 0 ? lowest : highest, far, far < 0 ? &lowest : &highest)) return std::nullopt;
  }
  return std::pair(lowest, highest);
}

}  // namespace

array::Strided part_of(const array::Strided& lies, const array::Box& part) {
  array::Strided found{part, lies.strides, lies.offset};
  for (unsigned d = 0; d < part.dimensions; ++d)
    found.offset += static_cast<std::int64_t>(part.begin[d] - lies.box.begin[d]) * lies.strides[d];
  return found;
}

base::Result<std::shared_ptr<const ArrayPart>> ArrayPart::make(std::int32_t id, segment::ArrayEntry array,
                                                               const Ghosts& ghosts, const std::vector<OwnedBox>& owned,
                                                               bool stores) {
  PERDURE_CHECK(segment::check_label(array.label, "region " + std::to_string(id)));
  if (id < 0) return base::fail(wrong(id, array.label, "the id is negative", "use ids from 0 upwards"));
  auto part = std::make_shared<ArrayPart>();
  const std::uint64_t bytes = array.type.bytes();
  if (owned.size() > array::kMostBoxes)
    return base::fail(wrong(id, array.label, "it has more than " + std::to_string(array::kMostBoxes) + " boxes"));
  std::vector<std::pair<std::byte*, std::byte*>> reached;
  std::byte* end = nullptr;
  for (const auto& [box, address, strides] : owned) {
    const std::string which = "box " + box.text();
    if (box.dimensions != array.whole.dimensions || !array.whole.contains(box) || box.empty())
      return base::fail(wrong(id, array.label, which + " is empty or not inside of the array " + array.whole.text(),
                              "leave out boxes that have no elements"));
    if (address == nullptr) return base::fail(wrong(id, array.label, which + " has no address"));
    const auto lies = strides ? strides : dense(box, ghosts.width, bytes);
    const auto range = lies ? reach(box, *lies, bytes) : std::nullopt;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (!range || static_cast<std::uintptr_t>(-range->first) > at ||
        static_cast<std::uintptr_t>(range->second) > std::numeric_limits<std::uintptr_t>::max() - at)
      return base::fail(wrong(id, array.label, which + " reaches beyond the address space", "check its strides"));
    part->memory_.push_back({box, *lies, 0});
    reached.emplace_back(address + range->first, address);
    end = std::max(end, address + range->second);
  }
  if (!reached.empty()) part->address_ = std::min_element(reached.begin(), reached.end())->first;
  part->reach_bytes_ = static_cast<std::uint64_t>(end - part->address_);
  for (std::size_t i = 0; i < reached.size(); ++i) part->memory_[i].offset = reached[i].second - part->address_;
  if (stores)
    for (const auto& lies : part->memory_) array.boxes.push_back(lies.box);
  part->array_ = std::move(array);
  part->ghosts_ = ghosts;
  part->stores_ = stores;
  PERDURE_CHECK(part->describe(id));
  return part;
}

base::Status ArrayPart::describe(std::int32_t id) {
  std::uint64_t elements = 0;  // those of one box are below 2^63 bytes
  for (const auto& box : array_.boxes)
    if (__builtin_add_overflow(elements, box.elements(), &elements) || elements > kMost / array_.type.bytes())
      return base::fail(wrong(id, array_.label, "its boxes are together not below 2^63 bytes", "check for overlaps"));
  PERDURE_TRY(stored_, segment::entry_of(id, array_));
  return {};
}

std::uint64_t ArrayPart::dense_bytes() const {
  if (memory_.size() != 1) return 0;
  const auto& lies = memory_.front();
  const auto capture = array::packed(lies.box, element_bytes(), 0);
  return array::strided_copy(lies.box, element_bytes(), lies, capture).runs() == 1
             ? lies.box.elements() * element_bytes()
             : 0;
}

base::Result<std::shared_ptr<const ArrayPart>> ArrayPart::place(std::uint64_t first, std::uint64_t total) const {
  auto placed = std::make_shared<ArrayPart>(*this);
  array::Box& whole = placed->array_.whole;
  whole.end[0] = total;
  PERDURE_TRY(whole, array::whole(std::span(whole.end.data(), whole.dimensions), element_bytes(),
                                  segment::region_text(stored_.id, array_.label)));
  const std::uint64_t here = rows();
  for (auto& lies : placed->memory_) {
    lies.box.begin[0] = first;
    lies.box.end[0] = first + here;
  }
  placed->array_.boxes.clear();
  for (const auto& lies : placed->memory_) placed->array_.boxes.push_back(lies.box);
  PERDURE_CHECK(placed->describe(stored_.id));
  return placed;
}

base::Result<std::shared_ptr<const ArrayPart>> ArrayPart::leave(const std::vector<Shared>& elsewhere) const {
  auto part = std::make_shared<ArrayPart>(*this);
  std::vector<std::vector<array::Box>> cuts(memory_.size());
  for (const auto& [number, box] : elsewhere) cuts.at(number).push_back(box);
  auto left = std::make_shared<std::vector<array::Strided>>();
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    std::vector<array::Box> rest{memory_[i].box};
    for (const auto& cut : cuts[i]) {
      std::vector<array::Box> next;
      for (const auto& box : rest) {
        const auto outside = array::without(box, cut);
        next.insert(next.end(), outside.begin(), outside.end());
      }
      rest = std::move(next);
      if (rest.size() > kMostLeft) break;
    }
    std::sort(rest.begin(), rest.end(), [](const array::Box& a, const array::Box& b) { return a.begin < b.begin; });
    for (const auto& box : rest) left->push_back(part_of(memory_[i], box));
    if (left->size() > array::kMostBoxes || rest.size() > kMostLeft)
      return base::fail(wrong(stored_.id, array_.label, "what other ranks do not have of it is too many boxes",
                              "let boxes of different ranks overlap less"));
  }
  part->left_ = elsewhere.empty() ? nullptr : std::move(left);
  part->array_.boxes.clear();
  for (const auto& lies : part->captured()) part->array_.boxes.push_back(lies.box);
  PERDURE_CHECK(part->describe(stored_.id));
  return part;
}

std::shared_ptr<const ArrayPart> ArrayPart::at(std::byte* address) const {
  auto moved = std::make_shared<ArrayPart>(*this);
  moved->address_ = address;
  return moved;
}

base::Result<std::shared_ptr<const ArrayPart>> ArrayPart::with_rows(std::byte* address, std::uint64_t rows) const {
  segment::ArrayEntry list = array_;
  list.boxes.clear();
  list.whole.end[0] = rows;
  PERDURE_TRY(list.whole, array::whole(std::span(list.whole.end.data(), list.whole.dimensions), element_bytes(),
                                       segment::region_text(stored_.id, array_.label)));
  std::vector<OwnedBox> owned;
  if (!list.whole.empty()) owned.push_back({list.whole, address});
  return make(stored_.id, std::move(list), {}, owned, stores_);
}

segment::RegionEntry ArrayPart::declaration() const {
  if (left_) {
    segment::ArrayEntry declared = array_;
    declared.boxes.clear();
    for (const auto& lies : memory_) declared.boxes.push_back(lies.box);
    auto entry = segment::entry_of(stored_.id, declared);
    return entry ? std::move(*entry) : stored_;  // it was made before
  }
  if (array_.kind != segment::ArrayKind::list) return stored_;
  segment::ArrayEntry list = array_;
  list.boxes.clear();
  list.whole.end[0] = 0;
  auto entry = segment::entry_of(stored_.id, list);
  return entry ? std::move(*entry) : stored_;  // without boxes there is no reason to refuse it
}

std::vector<array::Strided> ArrayPart::wanted() const {
  std::vector<array::Strided> all;
  all.reserve(memory_.size());
  for (std::size_t number = 0; number < memory_.size(); ++number) all.push_back(wanted(number));
  return all;
}

array::Strided ArrayPart::wanted(std::size_t number) const {
  array::Strided lies = memory_[number];
  if (!ghosts_.fill) return lies;
  const auto box = array::widened(lies.box, ghosts_.width, array_.whole);
  for (unsigned d = 0; d < box.dimensions; ++d)
    lies.offset -= static_cast<std::int64_t>(lies.box.begin[d] - box.begin[d]) * lies.strides[d];
  lies.box = box;
  return lies;
}

}  // namespace perdure::capture
