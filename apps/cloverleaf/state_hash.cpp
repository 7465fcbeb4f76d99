#include "state_hash.hpp"

#include <bit>
#include <vector>

namespace clover {
namespace {

// Every bit of the result depends on every bit of `value` (the finisher of splitmix64).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
  return value ^ value >> 31U;
}

// Added up, so that neither the order of elements nor who has them matters.
std::uint64_t hash_of(const Field& field, const Box& inner, std::uint64_t number) {
  const Box mine = intersection(inner, field.owned());
  if (mine.empty()) return 0;
  std::uint64_t sum = 0;
  const std::int64_t planes = mine.dimensions > 2 ? mine.end[2] : 1;
  for (std::int64_t z = mine.begin[2]; z < planes; ++z)
    for (std::int64_t y = mine.begin[1]; y < mine.end[1]; ++y)
      for (std::int64_t x = mine.begin[0]; x < mine.end[0]; ++x) {
        Index index{};
        index = {x, y, z};
        std::uint64_t hash = number;
        for (const std::int64_t at : {x, y, z}) hash = mixed(hash + static_cast<std::uint64_t>(at));
        sum += mixed(hash ^ std::bit_cast<std::uint64_t>(*field.at(index)));
      }
  return sum;
}

}  // namespace

std::uint64_t state_hash(const Fields& fields) {
  std::uint64_t sum = 0, number = 0;
  fields.mesh.look("final state", fields.cells(), {&fields.density0, &fields.energy0});
  for (unsigned axis = 0; axis < fields.dimensions; ++axis)
    fields.mesh.look("final velocity", fields.nodes(), {fields.velocity0[axis]});
  const auto add = [&](const Field& field, const Box& inner) { sum += hash_of(field, inner, mixed(++number)); };
  add(fields.density0, fields.cells());
  add(fields.energy0, fields.cells());
  for (unsigned axis = 0; axis < fields.dimensions; ++axis) add(*fields.velocity0[axis], fields.nodes());
  std::int64_t all[] = {static_cast<std::int64_t>(sum)};
  fields.mesh.ranks().combine(all);
  return static_cast<std::uint64_t>(all[0]);
}

}  // namespace clover
