// Writes one HDF5 file. The library gets it under a temporary name:
// 1. The data sets are written chunk by chunk, and the attributes.
// 2. The file is closed and synced.
// 3. It is read back.
// 4. It gets its name, and its directory is synced.
#include <set>

#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "portable/hdf5_file.hpp"
#include "portable/hdf5_types.hpp"
#include "portable/target.hpp"

namespace perdure::portable {
namespace {

using base::Status;

// The library's headers define H5F_ACC_* as if it were linked.
constexpr unsigned kNew = 0x0004, kReadOnly = 0x0000;

class Hdf5Target : public Target {
 public:
  Hdf5Target(const Hdf5Library& library, std::string path)
      : h_(library), path_(std::move(path)), temporary_(temporary_beside(path_)) {}
  ~Hdf5Target() override {
    set_ = {};
    (void)file_.reset();
    if (published_) return;
    // A file that the library could not close keeps its room on the disk otherwise, until this process ends.
    if (auto file = os::File::open(temporary_, os::Open::read_write)) (void)file->truncate(0);
    (void)os::remove_file(temporary_);
  }

  Status begin(const Facts& about) {
    file_ = Hdf5Id(h_.H5Fcreate(temporary_.c_str(), kNew, H5P_DEFAULT, H5P_DEFAULT), h_.H5Fclose);
    if (!file_) return failed("H5Fcreate");
    const Hdf5Id root(h_.H5Gopen2(file_.get(), "/", H5P_DEFAULT), h_.H5Gclose);
    PERDURE_CHECK(set_attribute(h_, root.get(), "name", about.name, path_));
    PERDURE_CHECK(set_attribute(h_, root.get(), "version", static_cast<std::int64_t>(about.version), path_));
    PERDURE_CHECK(set_attribute(h_, root.get(), "attempt", about.attempt, path_));
    PERDURE_CHECK(set_attribute(h_, root.get(), "ranks", static_cast<std::int64_t>(about.ranks), path_));
    return set_attribute(h_, root.get(), "writer", about.writer, path_);
  }

  std::uint64_t chunk_bytes() const override { return 4 * base::MiB; }
  bool keeps_room() const override { return true; }

  Status make(const DataSet& set, const array::Index& chunk) override {
    set_ = {};
    PERDURE_CHECK(make_groups(set.path));
    PERDURE_TRY(Hdf5Id type, to_hdf5(h_, set.type, object(set)));
    const Hdf5Id space = space_of(set.whole);
    const Hdf5Id properties(h_.H5Pcreate(h_.H5P_CLS_DATASET_CREATE_ID_g), h_.H5Pclose);
    if (set.whole.dimensions > 0 && !set.whole.empty()) {
      (void)h_.H5Pset_chunk(properties.get(), static_cast<int>(set.whole.dimensions), extents(chunk).data());
      (void)h_.H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);  // every element is written
    }
    Hdf5Id made(h_.H5Dcreate2(file_.get(), set.path.c_str(), type.get(), space.get(), H5P_DEFAULT, properties.get(),
                              H5P_DEFAULT),
                h_.H5Dclose);
    if (!made) return failed("H5Dcreate " + set.path);
    PERDURE_CHECK(describe(set, made.get()));
    set_ = Hdf5Set(h_, std::move(made), std::move(type), set.whole, object(set));
    made_ = set.path;
    return {};
  }

  Status write(const DataSet& /*set*/, const array::Box& chunk, base::ConstByteSpan elements) override {
    return set_.write(chunk, elements);
  }

  Status finish() override {
    set_ = {};
    made_.clear();
    // Writes the rest while a failure can still be reported, and the file can be given up.
    if (h_.H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0) return failed("H5Fflush");
    if (!file_.reset()) return failed("H5Fclose");
    PERDURE_TRY(const auto file, os::File::open(temporary_, os::Open::read_write));
    PERDURE_CHECK(file.sync());
    file.drop_cached();
    file_ = Hdf5Id(h_.H5Fopen(temporary_.c_str(), kReadOnly, H5P_DEFAULT), h_.H5Fclose);
    return file_ ? Status() : failed("H5Fopen");
  }

  Status read(const DataSet& set, const array::Box& chunk, base::ByteSpan elements) override {
    if (made_ != set.path) {
      set_ = {};
      Hdf5Id opened(h_.H5Dopen2(file_.get(), set.path.c_str(), H5P_DEFAULT), h_.H5Dclose);
      if (!opened) return failed("H5Dopen " + set.path);
      PERDURE_TRY(Hdf5Id type, to_hdf5(h_, set.type, object(set)));
      set_ = Hdf5Set(h_, std::move(opened), std::move(type), set.whole, object(set));
      made_ = set.path;
    }
    return set_.read(chunk, elements);
  }

  Status publish(bool replace) override {
    set_ = {};
    if (!file_.reset()) return failed("H5Fclose");
    os::crash_point(os::CrashPoint::export_before_rename);
    PERDURE_CHECK(replace ? os::rename_path(temporary_, path_) : os::rename_to_free(temporary_, path_));
    published_ = true;
    os::crash_point(os::CrashPoint::export_after_rename);
    return os::sync_directory(parent_of(path_));
  }

 private:
  std::string object(const DataSet& set) const { return path_ + ":/" + set.path; }
  Status failed(const std::string& call) const { return base::fail(h_.error(call, path_)); }

  static std::array<hsize_t, array::kMostDimensions> extents(const array::Index& of) {
    std::array<hsize_t, array::kMostDimensions> extents{};
    for (unsigned d = 0; d < extents.size(); ++d) extents[d] = of[d];
    return extents;
  }
  Hdf5Id space_of(const array::Box& whole) const {
    if (whole.dimensions == 0) return {h_.H5Screate(H5S_SCALAR), h_.H5Sclose};
    return {h_.H5Screate_simple(static_cast<int>(whole.dimensions), extents(whole.end).data(), nullptr), h_.H5Sclose};
  }

  /// Makes all groups that contain `path`.
  Status make_groups(const std::string& path) {
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string group = path.substr(0, slash);
      if (!groups_.insert(group).second) continue;
      const Hdf5Id made(h_.H5Gcreate2(file_.get(), group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), h_.H5Gclose);
      if (!made) return failed("H5Gcreate " + group);
    }
    return {};
  }

  Status describe(const DataSet& set, hid_t made) const {
    const auto text = [&](const char* name, const std::string& value) {
      return value.empty() ? Status() : set_attribute(h_, made, name, value, object(set));
    };
    PERDURE_CHECK(text("name", set.label.name));
    PERDURE_CHECK(text("unit", set.label.unit));
    PERDURE_CHECK(text("description", set.label.description));
    PERDURE_CHECK(text(kKindAttribute, set.kind));
    PERDURE_CHECK(text(kTypeAttribute, set.type.text()));
    if (set.array == nullptr && set.stored_element_bytes != set.type.bytes())
      PERDURE_CHECK(set_attribute(h_, made, kElementBytesAttribute, static_cast<std::int64_t>(set.stored_element_bytes),
                                  object(set)));
    return set_attribute(h_, made, kIdAttribute, set.id, object(set));
  }

  const Hdf5Library& h_;
  const std::string path_, temporary_;
  const SizeLimitError no_signal_;
  Hdf5Id file_;
  Hdf5Set set_;       ///< the open one
  std::string made_;  ///< its path
  std::set<std::string> groups_;
  bool published_ = false;
};

}  // namespace

base::Result<std::unique_ptr<Target>> make_hdf5(const std::string& path, const Facts& about) {
  PERDURE_TRY(const Hdf5Library* library, load_hdf5_library());
  auto target = std::make_unique<Hdf5Target>(*library, path);
  PERDURE_CHECK(target->begin(about));
  return target;
}

}  // namespace perdure::portable
