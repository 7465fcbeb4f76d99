#pragma once
// Reads an HDF5 file: its data sets become regions. Use it inside this module only.
#include <functional>

#include "portable/data_set.hpp"
#include "portable/hdf5_file.hpp"

namespace perdure::portable {

/// A data set as a region of a version.
struct SourceSet {
  std::string path;
  std::optional<std::uint32_t> rank;  ///< empty: an array
  segment::RegionEntry entry;         ///< entry of all of it
  array::ElementType type;
  array::Box whole;
};

class Hdf5Source {
 public:
  /// PERDURE_NOT_FOUND, PERDURE_IO: it cannot be opened. PERDURE_UNSUPPORTED: some of it cannot be a region. `step` is
  /// called before each link and each set of it.
  static base::Result<Hdf5Source> open(const std::string& path, std::function<void()> step);
  /// The sets: arrays first, then by rank.
  const std::vector<SourceSet>& sets() const { return sets_; }
  std::uint64_t ranks() const { return ranks_; }
  base::Result<Hdf5Set> set(const SourceSet& set) const;

 private:
  Hdf5Source(const Hdf5Library& library, std::string path, std::function<void()> step)
      : h_(&library), path_(std::move(path)), step_(std::move(step)) {}
  base::Status read_group(const std::string& group, std::optional<std::uint32_t> rank);
  base::Status read_ranks();
  base::Status check_bytes() const;
  base::Status add(const std::string& path, std::optional<std::uint32_t> rank);
  base::Status describe(SourceSet& set, hid_t of, const std::string& object);
  base::Result<std::vector<std::string>> names(const std::string& group) const;
  base::Result<array::ElementType> type_of(hid_t set, const std::string& object) const;
  base::Result<array::Box> whole_of(hid_t set, std::uint64_t element_bytes, const std::string& object) const;
  void number_the_rest();

  const Hdf5Library* h_;
  std::string path_;
  std::function<void()> step_;
  Hdf5Id file_;
  std::vector<SourceSet> sets_;
  std::uint64_t ranks_ = 1;
};

}  // namespace perdure::portable
