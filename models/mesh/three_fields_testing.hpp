#pragma once
// Provides data sets of three types for tests that write and read HDF5 files.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "mesh/hdf5.hpp"
#include "mesh/rows.hpp"
#include "mesh/thread_ranks_testing.hpp"

namespace perdure::mesh {

// Returns any bits; for reals this includes NaNs.
template <class T>
T bits_at(const Index& at, std::uint64_t of) {
  std::uint64_t bits = of;
  for (const auto index : {at[0], at[1], at[2]}) {
    bits = (bits ^ static_cast<std::uint64_t>(index + 100)) * 0x9e3779b97f4a7c15ULL;
    bits ^= bits >> 29U;
  }
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
void fill_with_bits(Data<T>& set, std::uint64_t of) {
  each_row(set.owned(), [&](Index at) {
    for (; at[0] < set.owned().end[0]; ++at[0]) *set.at(at) = bits_at<T>(at, of);
  });
}

// Counts this rank's elements that differ from these bits within `box`, or from 0 outside of it.
template <class T>
int others_than(const Data<T>& set, const Box& box, std::uint64_t of) {
  int others = 0;
  each_row(set.owned(), [&](Index at) {
    for (; at[0] < set.owned().end[0]; ++at[0]) {
      Box one = set.owned();
      one.begin = at;
      for (unsigned d = 0; d < one.dimensions; ++d) one.end[d] = at[d] + 1;
      const T expected = box.contains(one) ? bits_at<T>(at, of) : T{};
      others += std::memcmp(set.at(at), &expected, sizeof expected) == 0 ? 0 : 1;
    }
  });
  return others;
}

// Data sets of three types, on cells, nodes and faces.
struct Three {
  Three(Mesh& mesh, const std::vector<std::int64_t>& size)
      : block(mesh.block("plate", size)),
        cells(mesh.data(block, "cells", shape({}))),
        nodes(mesh.data<float>(block, "nodes", shape({1, 1, 1}))),
        faces(mesh.data<int>(block, "faces", shape({1}))) {}
  static Shape shape(Index more) { return {.more = more, .halo = 2, .unit = "kg", .description = "\u00f6"}; }
  void fill() {
    fill_with_bits(cells, 1);
    fill_with_bits(nodes, 2);
    fill_with_bits(faces, 3);
  }
  std::vector<const Dataset*> all() const { return {&cells, &nodes, &faces}; }
  void read(Mesh& mesh, const std::string& path, const Hdf5Options& options) {
    for (Dataset* set : std::initializer_list<Dataset*>{&cells, &nodes, &faces}) read_hdf5(mesh, path, *set, options);
  }
  void expect(const Hdf5Options& options) const {
    const auto box = [&](const Dataset& set) {
      return options.slab.value_or(options.halo ? set.whole() : set.inner());
    };
    EXPECT_EQ(others_than(cells, box(cells), 1), 0);
    EXPECT_EQ(others_than(nodes, box(nodes), 2), 0);
    EXPECT_EQ(others_than(faces, box(faces), 3), 0);
  }
  const Block& block;
  Data<double>& cells;
  Data<float>& nodes;
  Data<int>& faces;
};

inline void write_three(int ranks, const std::vector<std::int64_t>& size, const std::string& path,
                        const Hdf5Options& options) {
  on_ranks(ranks, [&](std::unique_ptr<Ranks> one) {
    Mesh mesh(std::move(one));
    Three sets(mesh, size);
    sets.fill();
    EXPECT_TRUE(write_hdf5(mesh, path, sets.all(), options));
  });
}

}  // namespace perdure::mesh
