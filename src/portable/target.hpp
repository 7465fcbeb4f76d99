#pragma once
// A Target is a file of another format while it is written. Members: hdf5_target.cpp, zarr_target.cpp.
#include <memory>

#include "portable/data_set.hpp"

namespace perdure::portable {

/// The facts that a file states about its whole content.
struct Facts {
  std::string name;
  std::uint64_t version = 0;
  std::string attempt;
  std::uint64_t ranks = 0;
  std::string writer;
};

/// The file has a temporary name beside the final one until publish(); destruction without it leaves nothing behind.
/// Use it from one thread.
class Target {
 public:
  virtual ~Target() = default;
  /// The greatest size of a chunk.
  virtual std::uint64_t chunk_bytes() const = 0;
  /// Tells whether room between members is kept as it is.
  virtual bool keeps_room() const = 0;
  virtual base::Status make(const DataSet& set, const array::Index& chunk) = 0;
  /// Writes all of one chunk of the set that was made last, cut off at the array's ends; packed.
  virtual base::Status write(const DataSet& set, const array::Box& chunk, base::ConstByteSpan elements) = 0;
  /// Ends the writing: all of it is on the device, and read() comes from there if the system lets us.
  virtual base::Status finish() = 0;
  virtual base::Status read(const DataSet& set, const array::Box& chunk, base::ByteSpan elements) = 0;
  /// Gives it its name. PERDURE_EXISTS when something has that name, unless `replace`.
  virtual base::Status publish(bool replace) = 0;
};

/// The kind of file that a path stands for.
enum class Format { hdf5, zarr };
/// Decides by the ending: .h5, .hdf5; .zarr. PERDURE_INVALID_ARGUMENT for others.
base::Result<Format> format_of(const std::string& path);

base::Result<std::unique_ptr<Target>> make_hdf5(const std::string& path, const Facts& about);
base::Result<std::unique_ptr<Target>> make_zarr(const std::string& path, const Facts& about);

/// PERDURE_EXISTS, PERDURE_INVALID_ARGUMENT: `path` may not become a file of this format. With `replace`, only a file
/// of the same format may be there. Call it before any chunk is read.
base::Status check_free(const std::string& path, Format format, bool replace);

/// The kind of file with a hidden name beside the final one: a new file, or an old one that gives way.
enum class FileState { fresh, old };
/// Gives a hidden name beside `path`, of this process: .NAME.tmp-..., .NAME.old-...
std::string temporary_beside(const std::string& path, FileState what = FileState::fresh);
/// Removes leftovers of killed processes of this machine beside `path`, as far as it may. An old file that gave way
/// gets its name again if no other file has it.
void clean_beside(const std::string& path);
std::string parent_of(const std::string& path);

}  // namespace perdure::portable
