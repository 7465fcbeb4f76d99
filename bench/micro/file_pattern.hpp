#pragma once
// Makes one write of one rank's data, into its own file or into its region of a file that the ranks of a node share.
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace perdure::micro {

/// The state of the file before the write.
enum class FileMode {
  fresh,     ///< no file: the name was never used (called "new")
  existing,  ///< a file of this size, truncated by the open call
  in_place,  ///< a file of this size, overwritten
  deleted    ///< no file: one of this name was deleted just before
};
const char* name_of(FileMode mode);
base::Result<FileMode> file_mode(const std::string& name);

struct Target {
  std::string path;
  std::uint64_t offset = 0;
  /// The ranks that share the file. The first opens it before the others do; opening and closing wait for all of them.
  /// Null: the file belongs to this rank alone.
  MPI_Comm shared_by = MPI_COMM_NULL;
  bool first() const;
};

struct WriteOptions {
  FileMode mode = FileMode::fresh;
  std::uint64_t block_bytes = 1U << 20;  ///< of one write call
  bool sync = false;                     ///< fsync before the file is closed
};

/// Opens, writes and closes the file. [collective among shared_by]
base::Status write_once(const Target& target, const WriteOptions& options, const std::vector<char>& data);
/// Reads it into `buffer`, in blocks.
base::Status read_back(const Target& target, std::uint64_t block_bytes, std::vector<char>& buffer);
/// Checks that the file holds `data` at its place.
base::Status verify(const Target& target, const std::vector<char>& data);

}  // namespace perdure::micro
