#include "campaign/arrays.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "array/any_boxes_testing.hpp"
#include "array/element_type.hpp"

namespace perdure::campaign {
namespace {

using array::AnyBoxes;
using array::Box;
using Kind = ArrayShape::Kind;
using Call = ArrayDivision::Call;

constexpr const char* kTypes[] = {"i1",          "u2", "f4", "f8", "f8", "c8", "c16", "v12", "{position:3f8,id:i4,v4}",
                                  "{a:u1,b:3u2}"};
constexpr std::uint64_t kMostCyclicBoxes = 3000;

std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185ULL;
  x ^= x >> 27;
  x *= 0x81dadef4bc2dd44dULL;
  return x ^ x >> 33;
}

std::uint64_t number_in(const Box& whole, const array::Index& index) {
  std::uint64_t number = 0;
  for (unsigned d = 0; d < whole.dimensions; ++d) number = number * whole.extent(d) + index[d];
  return number;
}

/// Draws extents of roughly this many elements.
Box extents(AnyBoxes& any, unsigned dimensions, std::uint64_t elements) {
  Box box;
  box.dimensions = dimensions;
  std::uint64_t left = std::max<std::uint64_t>(1, elements);
  for (unsigned d = 0; d + 1 < dimensions; ++d) {
    box.end[d] = 1 + any.below(std::min<std::uint64_t>(left, d == 0 && any.chance() ? 60 : 12));
    left = std::max<std::uint64_t>(1, left / box.end[d]);
  }
  if (dimensions == 0) return box;
  box.end[dimensions - 1] = left;
  std::swap(box.end[dimensions - 1], box.end[any.below(dimensions)]);
  return box;
}

ArrayShape shape_of(AnyBoxes& any, int id, std::uint64_t bytes) {
  ArrayShape shape;
  shape.id = id;
  shape.name = "array" + std::to_string(id);
  shape.type = kTypes[any.below(std::size(kTypes))];
  shape.element_bytes = array::ElementType::parse(shape.type, shape.name).value().bytes();
  const auto kind = any.below(10);
  shape.kind = kind < 6 ? Kind::global : kind < 8 ? Kind::list : Kind::replicated;
  const std::uint64_t elements = bytes / shape.element_bytes;
  if (shape.kind == Kind::global) {
    shape.whole = extents(any, any.below(12) == 0 ? 0 : static_cast<unsigned>(1 + any.below(5)), elements);
  } else if (shape.kind == Kind::replicated) {
    shape.whole = extents(any, static_cast<unsigned>(any.below(3)), elements / 4);
  } else {
    const std::uint64_t columns = 1 + any.below(3);
    shape.whole.dimensions = columns == 1 ? 1 : 2;
    shape.whole.end[0] = std::max<std::uint64_t>(1, elements / columns);
    if (columns > 1) shape.whole.end[1] = columns;
  }
  return shape;
}

/// Cuts the array at random places into boxes, each with the rank that has it.
std::vector<std::pair<Box, std::uint64_t>> cut_anywhere(AnyBoxes& any, const Box& whole, std::uint64_t ranks) {
  std::vector<std::pair<Box, std::uint64_t>> boxes{{whole, 0}};
  for (auto cuts = any.below(4 * ranks + 2); cuts > 0 && whole.dimensions > 0; --cuts) {
    auto& box = boxes[any.below(boxes.size())].first;
    const auto d = static_cast<unsigned>(any.below(whole.dimensions));
    if (box.extent(d) < 2) continue;
    Box rest = box;
    box.end[d] = rest.begin[d] = box.begin[d] + 1 + any.below(box.extent(d) - 1);
    boxes.emplace_back(rest, 0);
  }
  for (auto& box : boxes) box.second = any.below(ranks);
  return boxes;
}

/// Draws rows, at edges that are the same on all ranks.
Box rows_of(AnyBoxes& any, const Box& whole, std::uint64_t rank, std::uint64_t ranks) {
  std::vector<std::uint64_t> edges{0, whole.extent(0)};
  for (std::uint64_t r = 1; r < ranks; ++r) edges.push_back(any.below(whole.extent(0) + 1));
  std::sort(edges.begin(), edges.end());
  Box box = whole;
  box.begin[0] = edges[rank];
  box.end[0] = edges[rank + 1];
  return box;
}

void add_dense(ArrayDivision& mine, const Box& box, std::uint64_t element_bytes) {
  if (box.empty()) return;
  array::Strided lies{box, {}, 0};
  auto stride = static_cast<std::int64_t>(element_bytes);
  std::int64_t first = 0;
  for (unsigned d = box.dimensions; d-- > 0;) {
    lies.strides[d] = stride;
    first += stride * static_cast<std::int64_t>(mine.ghosts[d]);
    stride *= static_cast<std::int64_t>(box.extent(d) + 2 * mine.ghosts[d]);
  }
  lies.offset = static_cast<std::int64_t>(mine.bytes) + first;
  mine.bytes += static_cast<std::uint64_t>(stride);
  mine.boxes.push_back(lies);
}

/// Adds the box with gaps between its elements, in any order of dimensions.
void add_anyhow(ArrayDivision& mine, AnyBoxes& any, const Box& box, std::uint64_t element_bytes) {
  if (box.empty()) return;
  std::uint64_t bytes = 0;
  auto lies = any.strided(box, element_bytes, bytes);
  if (bytes > 4 * box.elements() * element_bytes) {
    lies = array::packed(box, element_bytes, 0);
    bytes = box.elements() * element_bytes;
  }
  lies.offset += static_cast<std::int64_t>(mine.bytes);
  mine.bytes += bytes;
  mine.boxes.push_back(lies);
}

void draw_ghosts(ArrayDivision& mine, AnyBoxes& any, const Box& whole) {
  if (any.chance()) return;
  for (unsigned d = 0; d < whole.dimensions; ++d) mine.ghosts[d] = any.below(whole.dimensions > 3 ? 2 : 3);
  mine.fill_ghosts = any.chance();
}

/// Divides as perdure_protect_block_cyclic() does; returns false if that would give too many blocks.
bool divide_cyclically(ArrayDivision& mine, AnyBoxes& any, const ArrayShape& shape, std::uint64_t rank,
                       std::uint64_t ranks) {
  const Box& whole = shape.whole;
  std::uint64_t blocks = 1;
  for (unsigned d = 0; d < whole.dimensions; ++d) {
    mine.lengths[d] = 1 + any.below(whole.extent(d));
    blocks *= (whole.extent(d) + mine.lengths[d] - 1) / mine.lengths[d];
  }
  if (blocks > kMostCyclicBoxes) return false;
  mine.call = Call::block_cyclic;
  mine.dense = false;
  const auto grid = array::even_grid(whole, ranks);
  const auto boxes = array::block_cyclic(whole, grid, mine.lengths, rank, kMostCyclicBoxes, shape.name).value();
  const auto here = [&](unsigned d, std::uint64_t begin) {
    return begin / mine.lengths[d] / grid.ranks[d] * mine.lengths[d];
  };
  Box local{whole.dimensions, {}, {}};
  for (const Box& box : boxes)
    for (unsigned d = 0; d < whole.dimensions; ++d)
      local.end[d] = std::max(local.end[d], here(d, box.begin[d]) + box.extent(d));
  const auto all = array::packed(local, shape.element_bytes, 0);
  for (const Box& box : boxes) {
    array::Index first{};
    for (unsigned d = 0; d < whole.dimensions; ++d) first[d] = here(d, box.begin[d]);
    mine.boxes.push_back({box, all.strides, all.at(first)});
  }
  mine.bytes = local.elements() * shape.element_bytes;
  return true;
}

void divide_as_blocks(ArrayDivision& mine, const ArrayShape& shape, std::uint64_t rank, std::uint64_t ranks) {
  mine.call = Call::block;
  add_dense(mine, array::block(shape.whole, array::even_grid(shape.whole, ranks), rank), shape.element_bytes);
}

/// Makes blocks that overlap their neighbours; shared elements are equal on all ranks.
void divide_with_seams(ArrayDivision& mine, AnyBoxes& any, const ArrayShape& shape, std::uint64_t rank,
                       std::uint64_t ranks) {
  array::Index more{};
  for (unsigned d = 0; d < shape.whole.dimensions; ++d) more[d] = any.below(1 + shape.whole.extent(d) / 4);
  const Box block = array::block(shape.whole, array::even_grid(shape.whole, ranks), rank);
  add_dense(mine, block.empty() ? block : array::widened(block, more, shape.whole), shape.element_bytes);
}

void divide_anyhow(ArrayDivision& mine, AnyBoxes& any, const ArrayShape& shape, std::uint64_t rank,
                   std::uint64_t ranks) {
  mine.dense = false;
  const auto boxes = cut_anywhere(any, shape.whole, ranks);
  for (const auto& [box, owner] : boxes)
    if (owner == rank) add_anyhow(mine, any, box, shape.element_bytes);
}

void divide_global(ArrayDivision& mine, AnyBoxes& any, const ArrayShape& shape, std::uint64_t rank,
                   std::uint64_t ranks) {
  const auto how = any.below(6);
  if (shape.whole.dimensions == 0 || how == 0) return divide_anyhow(mine, any, shape, rank, ranks);
  if (how == 1 && divide_cyclically(mine, any, shape, rank, ranks)) return;
  if (how == 2) {
    const Box rows = rows_of(any, shape.whole, rank, ranks);
    draw_ghosts(mine, any, shape.whole);
    return add_dense(mine, rows, shape.element_bytes);
  }
  if (how == 3) return divide_with_seams(mine, any, shape, rank, ranks);
  if (how == 4 && any.below(3) == 0)  // one rank has the whole array
    return add_dense(mine, any.below(ranks) == rank ? shape.whole : Box{1, {}, {}}, shape.element_bytes);
  draw_ghosts(mine, any, shape.whole);
  divide_as_blocks(mine, shape, rank, ranks);
}

}  // namespace

std::vector<ArrayShape> shapes_of(int seed) {
  AnyBoxes any(static_cast<std::uint64_t>(seed));
  std::vector<ArrayShape> shapes{{1, "step", "u8", Kind::replicated, {}, 8}};
  const std::uint64_t most = any.below(3) == 0 ? 20'000 : any.chance() ? 200'000 : 700'000;
  for (auto left = 1 + any.below(4); left > 0; --left)
    shapes.push_back(shape_of(any, shapes.back().id + 1 + static_cast<int>(any.below(3)), 1000 + any.below(most)));
  return shapes;
}

ArrayDivision division_of(const ArrayShape& shape, int seed, int rank, int ranks) {
  // All ranks draw the same numbers up to the point at which a rank lays out its own boxes.
  AnyBoxes any(mixed(static_cast<std::uint64_t>(seed) * 1000 + static_cast<std::uint64_t>(shape.id)));
  const auto me = static_cast<std::uint64_t>(rank), of = static_cast<std::uint64_t>(ranks);
  ArrayDivision mine;
  if (shape.kind == Kind::replicated) {
    mine.call = Call::replicated;
    add_dense(mine, shape.whole, shape.element_bytes);
  } else if (shape.kind == Kind::list) {
    mine.call = Call::list;
    add_dense(mine,
              seed == 0 ? array::block(shape.whole, {shape.whole.dimensions, {of, 1}}, me)
                        : rows_of(any, shape.whole, me, of),
              shape.element_bytes);
  } else if (shape.whole.dimensions == 0 && seed == 0) {
    add_dense(mine, rank == 0 ? shape.whole : Box{1, {}, {}}, shape.element_bytes);
  } else if (seed == 0) {
    divide_as_blocks(mine, shape, me, of);
  } else {
    divide_global(mine, any, shape, me, of);
  }
  return mine;
}

void put_element(const ArrayShape& shape, const array::Index& index, std::uint64_t step, std::byte* to) {
  const std::uint64_t key = mixed(number_in(shape.whole, index) * 0x9e3779b97f4a7c15ULL +
                                  mixed(step * 64 + static_cast<std::uint64_t>(shape.id)));
  for (std::uint64_t at = 0; at < shape.element_bytes; at += 8) {
    const std::uint64_t word = at == 0 ? key : mixed(key + at);
    std::memcpy(to + at, &word, std::min<std::uint64_t>(8, shape.element_bytes - at));
  }
}

std::vector<std::vector<char>> beginnings(int shapes, int division, int rank, int ranks, std::uint64_t step,
                                          std::size_t most) {
  std::vector<std::vector<char>> found;
  const auto all = shapes_of(shapes);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto mine = division_of(all[i], division, rank, ranks);
    for (const auto& lies : mine.boxes) {
      std::vector<char> bytes;
      std::vector<std::byte> element(all[i].element_bytes);
      array::each_element(lies.box, [&](const array::Index& index) {
        if (bytes.size() >= most) return;
        put_element(all[i], index, step, element.data());
        const auto* begin = reinterpret_cast<const char*>(element.data());
        bytes.insert(bytes.end(), begin, begin + element.size());
      });
      found.push_back(std::move(bytes));
    }
  }
  return found;
}

}  // namespace perdure::campaign
