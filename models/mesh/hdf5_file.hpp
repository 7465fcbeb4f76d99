#pragma once
// One HDF5 file of one process: data sets, of which boxes are written and read. Boxes are indices of the mesh, x first;
// in the file x is the last dimension. What goes wrong throws std::runtime_error, which says why and leaves out the
// path. Threads take turns: the library knows of none. Of hdf5.cpp only.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mesh/division.hpp"

namespace perdure::mesh {

/// An object of the library, by its hid_t; closed at its end.
class Hdf5Object {
 public:
  using Close = int (*)(std::int64_t);
  Hdf5Object() = default;
  Hdf5Object(std::int64_t id, Close closed_by) : id_(id), close_(closed_by) {}
  Hdf5Object(Hdf5Object&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Object& operator=(Hdf5Object&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Object() { (void)close(); }
  explicit operator bool() const { return id_ >= 0; }
  std::int64_t id() const { return id_; }
  /// False when the library could not.
  bool close();

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

/// What a file says of a data set.
struct Hdf5Set {
  std::string name, type;  ///< as Dataset has them; another type than numbers: ""
  std::string block, unit, description;
  Box box;                            ///< the elements that are there
  std::vector<std::int64_t> extents;  ///< of all that the mesh has, without its halo; empty: the file does not say so
  bool indexed = true;                ///< it says which indices they are; else `box` begins at 0
};

/// Elements in memory: `box` of them lies there without holes, x fastest.
template <class Byte>
struct Hdf5Memory {
  Byte* first;
  Box box;
};

/// Whether elements of that type can be written and read: integers and reals.
bool is_hdf5_number(const std::string& type);

/// A file that gets its name when it is whole: until then, and for ever where its process dies, it is `path`.part. The
/// library makes it, and tells where elements lie; they are written there past it, as it can neither close nor forget a
/// file when the device is full, and would end the program with an error.
class Hdf5Writer {
 public:
  /// A file of one rank, beside those of others.
  struct OfOne {
    int rank, ranks;
  };
  /// All of the file but the elements of `sets`.
  Hdf5Writer(std::string path, std::span<const Hdf5Set> sets, std::optional<OfOne> of_one);
  ~Hdf5Writer();  ///< removes what has no name
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  /// Of the data set of that number in `sets`.
  void write(std::size_t number, const Box& box, const Hdf5Memory<const std::byte>& from);
  /// All of it is on the device.
  void finish();
  /// It has its name.
  void publish();

 private:
  struct Place {
    Box box;
    std::size_t element_bytes;
    std::uint64_t offset;
  };
  static std::vector<Place> make(const std::string& path, std::span<const Hdf5Set> sets, std::optional<OfOne> of_one);
  void write_bytes(const std::byte* first, std::size_t bytes, std::uint64_t offset) const;

  const std::string path_, part_;
  std::vector<Place> places_;
  int file_ = -1;
  bool published_ = false;
};

class Hdf5Reader {
 public:
  explicit Hdf5Reader(const std::string& path);
  std::optional<std::int64_t> number(const char* name) const;
  /// The data set from which read() reads.
  Hdf5Set find(const std::string& name);
  void read(const Box& box, const Box& all, const Hdf5Memory<std::byte>& to);

 private:
  Hdf5Object file_, set_;
  std::int64_t type_ = -1;
};

}  // namespace perdure::mesh
