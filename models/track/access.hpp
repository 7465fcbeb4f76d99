#pragma once
// Describes a program's data sets and loops: what each loop reads and writes. Pure.
#include <cstdint>
#include <string>
#include <string_view>

#include "track/box.hpp"

namespace perdure::track {

/// Numbers the data sets of a tracker in the order of their declarations, which is the same in every run.
using SetId = std::uint32_t;

struct DataSet {
  std::string name;
  Box box;  ///< all elements with the halo, of all ranks or of this rank
  std::uint64_t element_bytes = 0;
  /// No checkpoint holds this set. A checkpoint cannot begin before a loop that reads elements of it written earlier.
  bool scratch = false;
  friend bool operator==(const DataSet&, const DataSet&) = default;
};

/// Returns why a tracker would reject the set, or an empty text. Errors: no name, elements of size 0, a box that ends
/// before it begins, or 2^63 bytes or more.
std::string defect_of(const DataSet& set);

/// Says what one loop does with one data set. All reads of a loop precede its writes, and an increment reads the
/// elements that it writes. The whole of `written` counts as written, so a kernel that leaves elements out must declare
/// that it reads them.
struct Access {
  enum class Mode { read, write, read_write };
  SetId set = 0;
  Mode mode = Mode::read;
  Box written;  ///< for write and read_write
  Box read;     ///< for read and read_write: includes the stencil; within the data set

  static Access reads(SetId set, const Box& box) { return {set, Mode::read, {}, box}; }
  static Access writes(SetId set, const Box& box) { return {set, Mode::write, box, {}}; }
  static Access reads_writes(SetId set, const Box& read, const Box& written) {
    return {set, Mode::read_write, written, read};
  }
  bool does_read() const { return mode != Mode::write; }
  bool does_write() const { return mode != Mode::read; }
};

/// A hash of a loop's name and of its place in the program.
using LoopId = std::uint64_t;

/// Hashes the loop's name and its place in the program: file and line, or a text that stays the same from run to run.
LoopId loop_id(std::string_view name, std::string_view site);

}  // namespace perdure::track
