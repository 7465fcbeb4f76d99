#pragma once
// Writes a version, or some of its regions, into a file of another format, chunk by chunk. Each is verified when it is
// read.
#include <functional>

#include "portable/target.hpp"

namespace perdure::portable {

/// Gets the number of bytes written, or read back, after each chunk.
using Advance = std::function<void(std::uint64_t bytes)>;

/// Writes all sets, and with `verify` reads them back and compares them, before the file gets its name.
/// PERDURE_CORRUPT: a chunk of the store is damaged, or the data read back differs.
base::Status export_sets(reader::StoredContent& content, const std::vector<DataSet>& sets, Target& target, bool verify,
                         const Advance& advance);

struct ExportOptions {
  std::vector<std::string> regions = {};  ///< by name or number; none: all
  bool replace = false;                   ///< replace existing files
  bool verify = true;                     ///< read it back and compare
  /// Gets the number of bytes that will pass, before the first one does; returns the function that hears of them.
  std::function<Advance(std::uint64_t bytes)> begins = {};
};

struct Exported {
  std::vector<DataSet> sets;
  std::uint64_t bytes = 0;
  std::string xdmf;  ///< path of the description for ParaView and VisIt; empty if there is none
};

/// Writes a version as PATH.h5 or PATH.zarr: whole, or not at all. If there are fields of two or three dimensions,
/// PATH.xdmf is written beside PATH.h5. PERDURE_EXISTS: a file is there already. PERDURE_INVALID_ARGUMENT: the path has
/// another ending. Other errors are those of export_sets().
base::Result<Exported> export_version(reader::StoredContent& content, const std::string& path,
                                      const ExportOptions& options);

}  // namespace perdure::portable
