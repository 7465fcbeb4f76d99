#pragma once
// Defines blocks and the data on them: the global shape, and the part that this rank has.
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

/// Has cells 0 to before `cells[d]` in dimension d, divided among the ranks.
struct Block {
  std::string name;
  std::vector<std::int64_t> cells;
  Division division;
  Box part;  ///< this rank's cells, see Division::part()
  unsigned dimensions() const { return division.dimensions(); }
};

/// Says how the elements of a data set lie on the cells of its block.
struct Shape {
  Index more{};             ///< extra elements per dimension compared with cells: nodes have one more in each
  std::int64_t halo = 2;    ///< layers around the whole in each dimension; each rank has as many of its neighbours'
  bool scratch = false;     ///< left out of checkpoints: no time step needs a value from an earlier one
  std::string unit;         ///< shown to readers of checkpoints; may be empty
  std::string description;  ///< may be empty
};

/// One value per element. Memory is this rank's part with its ghosts, dense, x fastest.
class Dataset {
 public:
  Dataset(const Block& block, std::string name, std::size_t element_bytes, std::string type, Shape shape, int rank);
  const std::string& name() const { return name_; }
  const Block& block() const { return *block_; }
  const Shape& shape() const { return shape_; }
  std::size_t element_bytes() const { return element_bytes_; }
  const std::string& type() const { return type_; }  ///< the type's text as in perdure_array
  const Box& whole() const { return whole_; }        ///< the box of all ranks, with the halo
  const Box& owned() const { return owned_; }        ///< this rank's box; other ranks have it only as ghosts
  const Box& local() const { return local_; }        ///< this rank's box with its ghosts
  Box inner() const;                                 ///< the box of all ranks, without the halo
  std::byte* address(const Index& index) const;      ///< `index` must be in local()
  std::int64_t stride(unsigned dimension) const { return strides_[dimension]; }  ///< counts elements

  track::SetId id = 0;  ///< the set's number in the mesh
  /// Neighbours whose elements may be out of date among this rank's ghosts. Ghosts of all other neighbours are valid on
  /// all ranks, as far as the halo reaches. A ghost at a corner comes directly from the diagonal neighbour, so its
  /// state does not depend on the neighbours beside it.
  Neighbours stale;
  void ghosts_are_stale() { stale = Neighbours::all(); }
  /// Marks the elements that a loop over `written` writes. All ranks get the same result.
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

/// Values along one axis of a block: coordinates or widths. Every rank has all of them, and no loop writes them. The
/// indices go from `first` to before `first` + `values.size()`.
template <class T>
struct Profile {
  unsigned axis = 0;
  std::int64_t first = 0;
  std::vector<T> values;
  /// Sets the value at each index from `begin` to before `end` to `make(index)`.
  template <class Make>
  Profile(unsigned along, std::int64_t begin, std::int64_t end, Make make) : axis(along), first(begin) {
    for (std::int64_t i = begin; i < end; ++i) values.push_back(make(i));
  }
};

}  // namespace perdure::mesh
