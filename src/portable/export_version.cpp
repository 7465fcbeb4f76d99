#include "portable/export_version.hpp"

#include "base/hash.hpp"
#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "portable/chunking.hpp"
#include "portable/xdmf.hpp"

namespace perdure::portable {
namespace {

using base::Status;

/// One set that is being written, with the expected content of its chunks for the reading back.
class Moving {
 public:
  Moving(reader::StoredContent& content, const DataSet& set, Target& target, const Advance& advance)
      : content_(content), set_(set), target_(target), advance_(advance), extents_(extents()) {}

  Status write() {
    PERDURE_CHECK(target_.make(set_, extents_));
    const Status written = each([&](const array::Box& chunk) -> Status {
      PERDURE_CHECK(read(chunk));
      if (!target_.keeps_room()) clear_room(set_.type, buffer_);
      hashes_.push_back(base::hash128(buffer_));
      PERDURE_CHECK(target_.write(set_, chunk, buffer_));
      os::crash_point(os::CrashPoint::export_chunk);
      advance_(buffer_.size());
      return {};
    });
    if (!written) return written;
    if (hashes_.size() == chunks()) return {};
    return base::fail(PERDURE_CORRUPT, content_.id().text() + ", " + segment::region_text(set_.id, set_.label),
                      "what its ranks stored is not all of it");
  }

  Status compare() {
    std::size_t at = 0;
    return each([&](const array::Box& chunk) -> Status {
      buffer_.resize(chunk.elements() * set_.type.bytes());
      PERDURE_CHECK(target_.read(set_, chunk, buffer_));
      if (base::hash128(buffer_) != hashes_[at++])
        return base::fail(PERDURE_CORRUPT, set_.path + " " + chunk.text(), "what was read back is not what was written",
                          "this disk or memory is not to be trusted");
      advance_(buffer_.size());
      return {};
    });
  }

  /// Frees the memory of its chunks: there may be many sets.
  void give_back() { buffer_ = {}; }

 private:
  array::Index extents() const {
    const bool boxes = set_.array != nullptr && !set_.array->boxes.stored().empty();
    return chunk_extents(set_.whole, boxes ? set_.array->boxes.stored().front().box : set_.whole, set_.type.bytes(),
                         target_.chunk_bytes());
  }
  std::uint64_t chunks() const { return set_.whole.empty() ? 0 : ChunkGrid(set_.whole, extents_).chunks(); }

  /// Goes in the order of the captures: chunks of the store are read once, except those at the edges of boxes.
  template <class Take>
  Status each(Take&& take) {
    if (set_.whole.empty()) return {};
    const ChunkGrid grid(set_.whole, extents_);
    if (set_.array == nullptr) return grid.each_in(set_.whole, take);
    for (const auto& stored : set_.array->boxes.stored())
      if (!stored.box.empty()) PERDURE_CHECK(grid.each_in(stored.box, take));
    return {};
  }

  Status read(const array::Box& chunk) {
    buffer_.resize(chunk.elements() * set_.type.bytes());
    if (set_.array != nullptr) return content_.read(*set_.array, chunk, buffer_);
    return content_.read_local(set_.local, chunk.begin[0], buffer_);
  }

  reader::StoredContent& content_;
  const DataSet& set_;
  Target& target_;
  const Advance& advance_;
  const array::Index extents_;
  std::vector<base::Hash128> hashes_;
  std::vector<std::byte> buffer_;
};

Facts about(const reader::StoredContent& content) {
  const auto& id = content.id();
  return {id.name, id.version, id.attempt.hex(), content.ranks(), content.writer()};
}

std::string xdmf_beside(const std::string& path) { return path.substr(0, path.rfind('.')) + ".xdmf"; }

/// The description of an HDF5 file, which has its name only while the file that it describes has one. The steps are:
/// 1. It is written under a temporary name; a file system that is full by now leaves neither.
/// 2. The description of the file to be replaced goes.
/// 3. The file gets its name.
/// 4. The description gets its name.
class Description {
 public:
  explicit Description(const std::string& file) : file_(file), path_(xdmf_beside(file)) {}
  ~Description() {
    if (!temporary_.empty()) base::attempt([this] { (void)os::remove_file(temporary_); });
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  /// Describes sets of two or three dimensions.
  Status write(const std::vector<DataSet>& sets, const Facts& about) {
    const std::string text = xdmf(sets, file_.substr(file_.rfind('/') + 1), about);
    if (text.empty()) return {};
    temporary_ = temporary_beside(path_);
    PERDURE_TRY(const auto file, os::File::open(temporary_, os::Open::create_shared));
    PERDURE_CHECK(file.write(0, base::as_bytes(text)));
    PERDURE_CHECK(file.sync());
    os::crash_point(os::CrashPoint::export_described);
    return {};
  }
  Status remove_old() const {
    PERDURE_CHECK(os::remove_file(path_));
    return os::sync_directory(parent_of(path_));
  }
  /// Gives its path, empty if there is nothing to describe.
  base::Result<std::string> publish(bool replace) {
    if (temporary_.empty()) return std::string();
    PERDURE_CHECK(replace ? os::rename_path(temporary_, path_) : os::rename_to_free(temporary_, path_));
    temporary_.clear();
    PERDURE_CHECK(os::sync_directory(parent_of(path_)));
    return path_;
  }

 private:
  const std::string file_, path_;
  std::string temporary_;
};

/// Handles an existing file, and leftovers of killed processes.
Status prepare_place(const std::string& path, Format format, bool replace) {
  const bool hdf5 = format == Format::hdf5;
  clean_beside(path);
  if (hdf5) clean_beside(xdmf_beside(path));
  PERDURE_CHECK(check_free(path, format, replace));
  return hdf5 && !replace ? check_free(xdmf_beside(path), format, false) : Status();
}

}  // namespace

Status export_sets(reader::StoredContent& content, const std::vector<DataSet>& sets, Target& target, bool verify,
                   const Advance& advance) {
  std::vector<Moving> moving;
  moving.reserve(sets.size());
  for (const DataSet& set : sets) {
    moving.emplace_back(content, set, target, advance);
    PERDURE_CHECK(moving.back().write());
    moving.back().give_back();
  }
  PERDURE_CHECK(target.finish());
  os::crash_point(os::CrashPoint::export_finished);
  if (!verify) return {};
  for (Moving& one : moving) {
    PERDURE_CHECK(one.compare());
    one.give_back();
  }
  return {};
}

base::Result<Exported> export_version(reader::StoredContent& content, const std::string& path,
                                      const ExportOptions& options) {
  PERDURE_TRY(const auto format, format_of(path));
  const bool hdf5 = format == Format::hdf5;
  if (content.borrows())
    return base::fail(PERDURE_UNSUPPORTED, content.id().text(),
                      "it has only what changed; other versions have the rest",
                      "capture it again without --increments, or export that one");
  PERDURE_CHECK(prepare_place(path, format, options.replace));
  Exported exported;
  PERDURE_TRY(exported.sets, choose(content, options.regions));
  for (const auto& set : exported.sets) exported.bytes += set.bytes();
  const Facts facts = about(content);
  PERDURE_TRY(const auto target, hdf5 ? make_hdf5(path, facts) : make_zarr(path, facts));
  os::crash_point(os::CrashPoint::export_begun);
  const Advance advance =
      options.begins ? options.begins(exported.bytes * (options.verify ? 2 : 1)) : [](std::uint64_t) {};
  PERDURE_CHECK(export_sets(content, exported.sets, *target, options.verify, advance));
  Description description(path);
  if (hdf5) PERDURE_CHECK(description.write(exported.sets, facts));
  if (hdf5 && options.replace) PERDURE_CHECK(description.remove_old());
  PERDURE_CHECK(target->publish(options.replace));
  PERDURE_TRY(exported.xdmf, description.publish(options.replace));
  return exported;
}

}  // namespace perdure::portable
