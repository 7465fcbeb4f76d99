#pragma once
// A file of another format while it is written. Members: hdf5_target.cpp, zarr_target.cpp.
#include <memory>

#include "portable/data_set.hpp"

namespace perdure::portable {

/// What a file says of all that is in it.
struct Facts {
  std::string name;
  std::uint64_t version = 0;
  std::string attempt;
  std::uint64_t ranks = 0;
  std::string writer;
};

/// Has a temporary name beside the final one until publish(); destruction without it leaves nothing behind. One thread.
class Target {
 public:
  virtual ~Target() = default;
  /// How large a chunk may be at most.
  virtual std::uint64_t chunk_bytes() const = 0;
  /// Whether room between members is kept as it is.
  virtual bool keeps_room() const = 0;
  virtual base::Status make(const DataSet& set, const array::Index& chunk) = 0;
  /// All of one chunk of the set that was made last, cut off at the array's ends; packed.
  virtual base::Status write(const DataSet& set, const array::Box& chunk, base::ConstByteSpan elements) = 0;
  /// Nothing is written afterwards; all of it is on the device, and read() comes from there where the system lets us.
  virtual base::Status finish() = 0;
  virtual base::Status read(const DataSet& set, const array::Box& chunk, base::ByteSpan elements) = 0;
  /// Gives it its name. Without `replace` PERDURE_EXISTS when there is something of that name.
  virtual base::Status publish(bool replace) = 0;
};

/// The kind of file that a path stands for.
enum class Format { hdf5, zarr };
/// By the ending: .h5, .hdf5; .zarr. PERDURE_INVALID_ARGUMENT for others.
base::Result<Format> format_of(const std::string& path);

base::Result<std::unique_ptr<Target>> make_hdf5(const std::string& path, const Facts& about);
base::Result<std::unique_ptr<Target>> make_zarr(const std::string& path, const Facts& about);

/// PERDURE_EXISTS, PERDURE_INVALID_ARGUMENT: `path` may not become a file of this format. With `replace` only what is
/// of the same format may be there. Asked before any chunk is read.
base::Status check_free(const std::string& path, Format format, bool replace);

/// What it is that has a hidden name beside the final one: a file on its way, or one that was there and gives way.
enum class FileState { fresh, old };
/// A hidden name beside `path`, of this process: .NAME.tmp-..., .NAME.old-...
std::string temporary_beside(const std::string& path, FileState what = FileState::fresh);
/// Removes what processes of this machine that were killed left beside `path`, as far as it may. Of what was there
/// before and gave way, it gets its name again where nothing else has it.
void clean_beside(const std::string& path);
std::string parent_of(const std::string& path);

}  // namespace perdure::portable
