#pragma once
// A child of this process reads the HDF5 file, within limits. Files come from unknown sources. The library crashes on
// some damaged ones, never ends on others, or takes all memory. Use it inside this module only.
#include <functional>
#include <memory>

#include "os/limited_child.hpp"
#include "portable/hdf5_source.hpp"
#include "portable/import_version.hpp"

namespace perdure::portable {

class Hdf5Reading {
 public:
  /// Opens as Hdf5Source::open(); PERDURE_CORRUPT, too, if the child did not come to an end.
  static base::Result<Hdf5Reading> open(const std::string& path, const ReadLimits& limits);
  /// Arrays first, then by rank.
  const std::vector<SourceSet>& sets() const { return sets_; }
  std::uint64_t ranks() const { return ranks_; }
  std::uint64_t bytes() const;
  /// Reads all sets, one after the other, in slabs. Call it once.
  using Take = std::function<base::Status(const SourceSet&, base::ConstByteSpan)>;
  base::Status read(const Take& take);

 private:
  Hdf5Reading(std::string path, const ReadLimits& limits, os::LimitedChild child)
      : path_(std::move(path)), limits_(limits), child_(std::move(child)) {}
  base::Status hear_sets();
  base::Result<std::vector<std::byte>> hear_text();
  base::Status hear_slab(base::ByteSpan elements);
  tl::unexpected<base::Error> broken();

  std::string path_;
  ReadLimits limits_;
  os::LimitedChild child_;
  std::vector<SourceSet> sets_;
  std::uint64_t ranks_ = 1;
};

}  // namespace perdure::portable
