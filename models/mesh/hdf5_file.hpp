#pragma once
// Reads and writes boxes of data sets in one HDF5 file of one process. Boxes are indices of the mesh, x first; in the
// file x is the last dimension. Errors throw std::runtime_error with the reason but not the path. Threads take turns,
// because the library is not thread-safe. Only hdf5.cpp uses this file.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mesh/division.hpp"

namespace perdure::mesh {

/// Owns an object of the library by its hid_t, and closes it.
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
  /// Returns false if the library failed to close it.
  bool close();

 private:
  std::int64_t id_ = -1;
  Close close_ = nullptr;
};

/// Describes a data set in a file.
struct Hdf5Set {
  std::string name, type;  ///< as in Dataset; `type` is "" if it is not a number type
  std::string block, unit, description;
  Box box;                            ///< the elements in the file
  std::vector<std::int64_t> extents;  ///< of the mesh's whole data set without its halo; empty if unknown
  bool indexed = true;                ///< the file gives the indices; otherwise `box` begins at 0
};

/// Elements in memory: those of `box`, without holes, x fastest.
template <class Byte>
struct Hdf5Memory {
  Byte* first;
  Box box;
};

/// Whether elements of that type can be written and read, which integers and reals can.
bool is_hdf5_number(const std::string& type);

/// Writes a file that gets its name when it is complete. Until then it is `path`.part, which remains if the process
/// dies. The library creates the file and tells where elements lie; the writer writes them around the library. On a
/// full device the library could neither close nor abandon a file, and would crash.
class Hdf5Writer {
 public:
  /// Says that the file is one of several, one per rank.
  struct OfOne {
    int rank, ranks;
  };
  /// Writes the whole file except the elements of `sets`.
  Hdf5Writer(std::string path, std::span<const Hdf5Set> sets, std::optional<OfOne> of_one);
  ~Hdf5Writer();  ///< removes the file if it has not got its name
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  /// Writes elements of data set `sets[number]`.
  void write(std::size_t number, const Box& box, const Hdf5Memory<const std::byte>& from);
  /// Makes the whole file durable on the device.
  void finish();
  /// Gives the file its name.
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
  /// Selects the data set from which read() reads.
  Hdf5Set find(const std::string& name);
  void read(const Box& box, const Box& all, const Hdf5Memory<std::byte>& to);

 private:
  Hdf5Object file_, set_;
  std::int64_t type_ = -1;
};

}  // namespace perdure::mesh
