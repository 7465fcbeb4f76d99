#pragma once
// What a program says of its data and of its loops: what each of them reads and writes. Pure.
#include <cstdint>
#include <string>
#include <string_view>

#include "track/box.hpp"

namespace perdure::track {

/// Number of a data set of a tracker, in the order of their declarations, which is the same in every run.
using SetId = std::uint32_t;

struct DataSet {
  std::string name;
  Box box;  ///< all of it with its halo: what all ranks have together, or what this one has
  std::uint64_t element_bytes = 0;
  /// No checkpoint has it: a place behind which a loop reads what was written of it before is no place.
  bool scratch = false;
  friend bool operator==(const DataSet&, const DataSet&) = default;
};

/// Why a tracker would not take it: no name, elements of no size, a box whose begin is behind its end, or 2^63 bytes or
/// more. Empty when it would.
std::string defect_of(const DataSet& set);

/// What one loop does with one data set. A loop reads all that it reads before it writes anything; an increment reads
/// what it writes. What is written is written as a whole: a kernel that leaves elements out reads them.
struct Access {
  enum class Mode { read, write, read_write };
  SetId set = 0;
  Mode mode = Mode::read;
  Box written;  ///< of write and read_write
  Box read;     ///< of read and read_write: with the stencil around it, within the data set

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

/// The id of a loop: of what it is called, and where in the program it is (file and line, or whatever stays the same
/// from run to run).
LoopId loop_id(std::string_view name, std::string_view site);

}  // namespace perdure::track
