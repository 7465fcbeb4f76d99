#pragma once
// Blocks and the data on them: what all ranks have together, and what of it this rank has, where.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mesh/division.hpp"
#include "mesh/neighbours.hpp"
#include "track/access.hpp"

namespace perdure::mesh {

/// Cells 0 to before `cells[d]`, divided among the ranks.
struct Block {
  std::string name;
  std::vector<std::int64_t> cells;
  Division division;
  Box part;  ///< this rank's, see Division::part()
  unsigned dimensions() const { return division.dimensions(); }
};

/// How the elements of a data set lie on the cells of its block.
struct Shape {
  Index more{};             ///< elements than cells in each dimension: nodes have one more in each
  std::int64_t halo = 2;    ///< around all, in each dimension; neighbours have as many of each other
  bool scratch = false;     ///< in no checkpoint: no time step needs what an earlier one left there
  std::string unit;         ///< for who reads checkpoints; may be empty
  std::string description;  ///< may be empty
};

/// One value per element. Memory is this rank's part with the ghosts around it, dense, x fastest.
class Dataset {
 public:
  Dataset(const Block& block, std::string name, std::size_t element_bytes, std::string type, Shape shape, int rank);
  const std::string& name() const { return name_; }
  const Block& block() const { return *block_; }
  const Shape& shape() const { return shape_; }
  std::size_t element_bytes() const { return element_bytes_; }
  const std::string& type() const { return type_; }  ///< as in perdure_array
  const Box& whole() const { return whole_; }        ///< of all ranks, with the halo
  const Box& owned() const { return owned_; }        ///< of this rank: nobody else has them but as ghosts
  const Box& local() const { return local_; }        ///< with ghosts
  Box inner() const;                                 ///< of all ranks, without the halo
  std::byte* address(const Index& index) const;      ///< which is in local()
  std::int64_t stride(unsigned dimension) const { return strides_[dimension]; }  ///< in elements

  track::SetId id = 0;  ///< of the mesh
  /// Neighbours whose elements among the ghosts may be other than they have themselves, on some rank. The ghosts from
  /// all others are good: on all ranks and as far as the halo reaches. What is at a corner comes from the neighbour
  /// there, not by way of those beside it, and is good or stale whatever theirs are.
  Neighbours stale;
  void ghosts_are_stale() { stale = Neighbours::all(); }
  /// Of the elements that a loop over `written` writes. The same on all ranks.
  void ghosts_are_stale(const Box& written);

 private:
  const Block* block_;
  std::string name_, type_;
  Shape shape_;
  std::size_t element_bytes_;
  Box whole_, owned_, local_;
  Index strides_{};
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
};

/// A data set of `T`.
template <class T>
class Data : public Dataset {
 public:
  using Dataset::Dataset;
  T* at(const Index& index) const { return reinterpret_cast<T*>(address(index)); }
};

/// Values along one axis of a block that every rank has all of, and no loop writes: coordinates, widths. Of indices
/// `first` to before `first` + `values.size()`.
template <class T>
struct Profile {
  unsigned axis = 0;
  std::int64_t first = 0;
  std::vector<T> values;
  /// Each is what `make` says of its index, from `begin` to before `end`.
  template <class Make>
  Profile(unsigned along, std::int64_t begin, std::int64_t end, Make make) : axis(along), first(begin) {
    for (std::int64_t i = begin; i < end; ++i) values.push_back(make(i));
  }
};

}  // namespace perdure::mesh
