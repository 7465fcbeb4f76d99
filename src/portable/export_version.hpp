#pragma once
// Writes a version, or some of its regions, into a file of another format: chunk by chunk, each verified when it is
// read.
#include <functional>

#include "portable/target.hpp"

namespace perdure::portable {

/// Gets how many bytes were written, or read back, after each chunk.
using Advance = std::function<void(std::uint64_t bytes)>;

/// Writes all sets, and with `verify` reads them back and compares them, before the file gets its name.
/// PERDURE_CORRUPT: a chunk of the store is damaged, or what was read back is something else.
base::Status export_sets(reader::StoredContent& content, const std::vector<DataSet>& sets, Target& target, bool verify,
                         const Advance& advance);

struct ExportOptions {
  std::vector<std::string> regions = {};  ///< by name or number; none: all
  bool replace = false;                   ///< what is there already
  bool verify = true;                     ///< it is read back and compared
  /// Gets how many bytes will pass, before the first one does; gives who is told of them.
  std::function<Advance(std::uint64_t bytes)> begins = {};
};

struct Exported {
  std::vector<DataSet> sets;
  std::uint64_t bytes = 0;
  std::string xdmf;  ///< the path of what describes it for ParaView and VisIt; empty where there is none
};

/// Writes a version as PATH.h5, with PATH.xdmf beside it where there are fields of two or three dimensions, or as
/// PATH.zarr: whole, or not at all. PERDURE_EXISTS: something is there already;
/// PERDURE_INVALID_ARGUMENT: the path has another ending; else as export_sets().
base::Result<Exported> export_version(reader::StoredContent& content, const std::string& path,
                                      const ExportOptions& options);

}  // namespace perdure::portable
