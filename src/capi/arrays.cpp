// Implements the C functions about arrays: arguments become parts of arrays.
#include "capi/arrays.hpp"

#include <algorithm>
#include <utility>

#include "array/box_code.hpp"
#include "array/distribution.hpp"

namespace perdure::capi {
namespace {

base::Error refused(int id, const std::string& why, const std::string& remedy = "") {
  return {PERDURE_INVALID_ARGUMENT, "region " + std::to_string(id), why, remedy, false};
}

std::string text_or_none(const char* text) { return text == nullptr ? std::string() : std::string(text); }

base::Result<array::Grid> grid_of(int id, const array::Box& whole, const std::uint64_t* grid, std::uint64_t ranks) {
  if (grid == nullptr) return array::even_grid(whole, ranks);
  array::Grid made{whole.dimensions, {}};
  std::uint64_t product = 1;
  for (unsigned d = 0; d < whole.dimensions; ++d) {
    made.ranks[d] = grid[d];
    if (__builtin_mul_overflow(product, grid[d], &product)) product = 0;
  }
  if (product == ranks) return made;
  return base::fail(refused(id, "its grid is not of " + std::to_string(ranks) + " ranks"));
}

// Makes one box without gaps; none if it is empty.
std::vector<capture::OwnedBox> dense(const array::Box& box, void* address) {
  if (box.empty()) return {};
  return {{box, static_cast<std::byte*>(address)}};
}

base::Result<capture::Region> region_with(int id, Declared declared, const std::vector<capture::OwnedBox>& owned,
                                          bool stores = true) {
  PERDURE_TRY(auto part, capture::ArrayPart::make(id, std::move(declared.array), declared.ghosts, owned, stores));
  return capture::region_of(std::move(part));
}

}  // namespace

base::Result<Declared> declared_array(int id, const perdure_array* array, segment::ArrayKind kind) {
  if (array == nullptr) return base::fail(refused(id, "its array is null"));
  const std::string object = segment::region_text(id, {text_or_none(array->name), "", ""});
  if (array->type == nullptr) return base::fail(refused(id, "its type is null"));
  const auto dimensions = static_cast<std::size_t>(array->dimensions);
  if (array->dimensions < 0 || dimensions > array::kMostDimensions)
    return base::fail(refused(id, "it has " + std::to_string(array->dimensions) + " dimensions",
                              "an array has 0 to " + std::to_string(array::kMostDimensions)));
  if (dimensions > 0 && array->extents == nullptr) return base::fail(refused(id, "its extents are null"));
  Declared declared;
  declared.array.label = {text_or_none(array->name), text_or_none(array->unit), text_or_none(array->description)};
  declared.array.kind = kind;
  PERDURE_TRY(declared.array.type, array::ElementType::parse(array->type, object));
  std::vector<std::uint64_t> extents(array->extents, array->extents + dimensions);
  if (kind == segment::ArrayKind::list && !extents.empty()) extents[0] = 0;
  PERDURE_TRY(declared.array.whole, array::whole(extents, declared.array.type.bytes(), object));
  if (array->ghosts != nullptr) std::copy(array->ghosts, array->ghosts + dimensions, declared.ghosts.width.begin());
  declared.ghosts.fill = array->fill_ghosts != 0;
  return declared;
}

base::Result<capture::Region> global_region(int id, const perdure_array* array, const perdure_box* boxes,
                                            std::size_t count) {
  PERDURE_TRY(auto declared, declared_array(id, array, segment::ArrayKind::global));
  if (boxes == nullptr && count > 0) return base::fail(refused(id, "its boxes are null"));
  std::vector<capture::OwnedBox> owned;
  const unsigned dimensions = declared.array.whole.dimensions;
  for (const perdure_box* given = boxes; given != boxes + count; ++given) {
    if (dimensions > 0 && (given->begin == nullptr || given->end == nullptr))
      return base::fail(refused(id, "box " + std::to_string(given - boxes) + " has no begin or no end"));
    capture::OwnedBox box{{dimensions, {}, {}}, static_cast<std::byte*>(given->address)};
    std::copy(given->begin, given->begin + dimensions, box.box.begin.begin());
    std::copy(given->end, given->end + dimensions, box.box.end.begin());
    if (given->strides != nullptr) {
      box.strides.emplace();
      std::copy(given->strides, given->strides + dimensions, box.strides->begin());
    }
    owned.push_back(box);
  }
  return region_with(id, std::move(declared), owned);
}

base::Result<array::Box> block_of(int id, const array::Box& whole, const std::uint64_t* grid, std::uint64_t rank,
                                  std::uint64_t ranks) {
  if (whole.dimensions == 0)
    return base::fail(
        refused(id, "a scalar cannot be divided", "declare it as replicated, or with one box on one rank"));
  PERDURE_TRY(const auto made, grid_of(id, whole, grid, ranks));
  return array::block(whole, made, rank);
}

base::Result<capture::Region> block_region(int id, const perdure_array* array, const std::uint64_t* grid, void* address,
                                           std::uint64_t rank, std::uint64_t ranks) {
  PERDURE_TRY(auto declared, declared_array(id, array, segment::ArrayKind::global));
  PERDURE_TRY(const auto mine, block_of(id, declared.array.whole, grid, rank, ranks));
  return region_with(id, std::move(declared), dense(mine, address));
}

base::Result<capture::Region> block_cyclic_region(int id, const perdure_array* array, const std::uint64_t* grid,
                                                  const std::uint64_t* lengths, void* address, std::uint64_t rank,
                                                  std::uint64_t ranks) {
  PERDURE_TRY(auto declared, declared_array(id, array, segment::ArrayKind::global));
  const array::Box whole = declared.array.whole;
  if (lengths == nullptr || whole.dimensions == 0) return base::fail(refused(id, "it has no lengths of blocks"));
  PERDURE_TRY(const auto made, grid_of(id, whole, grid, ranks));
  array::Index each{};
  std::copy(lengths, lengths + whole.dimensions, each.begin());
  PERDURE_TRY(const auto boxes,
              array::block_cyclic(whole, made, each, rank, array::kMostBoxes, "region " + std::to_string(id)));
  // Block b of a dimension is the rank's block number b / ranks there; this is its begin in the rank's own dense array.
  const auto here = [&](unsigned d, std::uint64_t begin) { return begin / each[d] / made.ranks[d] * each[d]; };
  array::Box local{whole.dimensions, {}, {}};
  for (const auto& box : boxes)
    for (unsigned d = 0; d < whole.dimensions; ++d)
      local.end[d] = std::max(local.end[d], here(d, box.begin[d]) + box.extent(d));
  const auto lies = array::packed(local, declared.array.type.bytes(), 0);
  if (address == nullptr && !boxes.empty()) return base::fail(refused(id, "the address is null"));
  std::vector<capture::OwnedBox> owned;
  for (const auto& box : boxes) {
    array::Index index{};
    for (unsigned d = 0; d < whole.dimensions; ++d) index[d] = here(d, box.begin[d]);
    owned.push_back(
        {box, static_cast<std::byte*>(address) + lies.at(index), std::optional<array::Strides>(lies.strides)});
  }
  declared.ghosts = {};
  return region_with(id, std::move(declared), owned);
}

base::Result<capture::Region> list_region(int id, const perdure_array* array, void* address, std::uint64_t rows) {
  PERDURE_TRY(auto declared, declared_array(id, array, segment::ArrayKind::list));
  if (declared.array.whole.dimensions == 0) return base::fail(refused(id, "a list has at least one dimension"));
  declared.array.whole.end[0] = rows;
  const auto& ends = declared.array.whole.end;
  PERDURE_TRY(declared.array.whole,
              array::whole(std::span(ends.data(), declared.array.whole.dimensions), declared.array.type.bytes(),
                           segment::region_text(id, declared.array.label)));
  declared.ghosts = {};
  const auto mine = dense(declared.array.whole, address);
  return region_with(id, std::move(declared), mine);
}

base::Result<segment::Elements> elements_said(int id, const char* type, int dimensions, const std::uint64_t* extents) {
  segment::Elements said;
  if (type != nullptr) {
    PERDURE_TRY(said.type, array::ElementType::parse(type, "region " + std::to_string(id)));
  }
  if (extents == nullptr) return said;
  if (dimensions < 0 || static_cast<std::size_t>(dimensions) > segment::kMostExtents)
    return base::fail(refused(id, "it has " + std::to_string(dimensions) + " dimensions",
                              "a region has 0 to " + std::to_string(segment::kMostExtents)));
  said.extents.emplace(extents, extents + dimensions);
  return said;
}

base::Result<capture::Region> replicated_region(int id, const perdure_array* array, void* address, bool stores) {
  PERDURE_TRY(auto declared, declared_array(id, array, segment::ArrayKind::replicated));
  declared.ghosts = {};
  const auto all = dense(declared.array.whole, address);
  return region_with(id, std::move(declared), all, stores);
}

}  // namespace perdure::capi
