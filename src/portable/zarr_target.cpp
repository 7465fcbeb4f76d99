// Writes a Zarr group of format 3: a directory, under a temporary name until it is complete.
// 1. Chunks and descriptions are written, and each file is synced.
// 2. All directories are synced.
// 3. It is read back.
// 4. It gets its name, in exchange for the directory that has it, and the directory around it is synced.
// 5. The old directory goes.
//
// Arrays of Zarr hold numbers of one kind. A compound element becomes a group with one array for each member; room
// between members is left out. Members of several numbers, and bytes of unknown type, have one dimension more.
#include <cstring>
#include <set>

#include "array/strided.hpp"
#include "base/json.hpp"
#include "os/crash_point.hpp"
#include "os/file.hpp"
#include "portable/chunking.hpp"
#include "portable/target.hpp"

namespace perdure::portable {
namespace {

using base::Json;
using base::Status;

/// One array of Zarr: a member of the elements, or all of them.
struct ZarrArray {
  std::string path;
  std::string type;                     ///< "float64"
  Json fill;                            ///< value outside of all chunks
  std::uint64_t unit = 1;               ///< bytes that the byte order turns around
  std::uint64_t offset = 0, bytes = 0;  ///< in an element
  std::uint64_t last = 0;               ///< extent of the additional dimension; 0: there is none
};

std::string type_name(const array::Scalar& scalar) {
  const std::string bits = std::to_string(8 * scalar.bytes);
  switch (scalar.kind) {
    case array::ScalarKind::integer:
      return "int" + bits;
    case array::ScalarKind::natural:
      return "uint" + bits;
    case array::ScalarKind::real:
      return "float" + bits;
    case array::ScalarKind::complex:
      return "complex" + bits;
    case array::ScalarKind::truth:
      return "bool";
    case array::ScalarKind::bytes:
      return "uint8";
  }
  return "uint8";
}

Json fill_of(const array::Scalar& scalar) {
  if (scalar.kind == array::ScalarKind::truth) return false;
  if (scalar.kind == array::ScalarKind::real) return 0.0;
  if (scalar.kind == array::ScalarKind::complex) return Json::array({0.0, 0.0});
  return 0;
}

ZarrArray zarr_array(const std::string& path, const array::Member& member) {
  const array::Scalar& scalar = member.scalar;
  const bool bytes = scalar.kind == array::ScalarKind::bytes;
  ZarrArray array{path, type_name(scalar), fill_of(scalar), 1, member.offset, member.count * scalar.bytes, 0};
  if (!bytes) array.unit = scalar.kind == array::ScalarKind::complex ? scalar.bytes / 2 : scalar.bytes;
  const std::uint64_t numbers = bytes ? array.bytes : member.count;
  if (numbers != 1) array.last = numbers;
  return array;
}

std::vector<ZarrArray> arrays_of(const DataSet& set) {
  if (!set.type.compound()) return {zarr_array(set.path, set.type.members().front())};
  std::vector<ZarrArray> arrays;
  for (const array::Member& member : set.type.members())
    if (!member.name.empty()) arrays.push_back(zarr_array(set.path + "/" + member.name, member));
  return arrays;
}

class ZarrTarget : public Target {
 public:
  explicit ZarrTarget(std::string path) : path_(std::move(path)), temporary_(temporary_beside(path_)) {}
  ~ZarrTarget() override {
    if (!published_) base::attempt([this] { (void)os::remove_tree(temporary_); });
  }

  Status begin(const Facts& about) {
    PERDURE_CHECK(make_directory(temporary_));
    return describe("", {{"zarr_format", 3},
                         {"node_type", "group"},
                         {"attributes",
                          {{"name", about.name},
                           {"version", about.version},
                           {"attempt", about.attempt},
                           {"ranks", about.ranks},
                           {"writer", about.writer}}}});
  }

  // Each chunk is a file: few, and large.
  std::uint64_t chunk_bytes() const override { return 16 * base::MiB; }
  bool keeps_room() const override { return false; }

  Status make(const DataSet& set, const array::Index& chunk) override {
    take_up(set, chunk);
    for (auto slash = set.path.find('/'); slash != std::string::npos; slash = set.path.find('/', slash + 1))
      PERDURE_CHECK(make_group(set.path.substr(0, slash), Json::object()));
    if (set.type.compound()) PERDURE_CHECK(make_group(set.path, attributes(set)));
    for (const ZarrArray& array : arrays_) PERDURE_CHECK(describe(array.path, description(set, array)));
    chunks_[set.path] = chunk;
    return {};
  }

  Status write(const DataSet& set, const array::Box& chunk, base::ConstByteSpan elements) override {
    for (const ZarrArray& array : arrays_) {
      buffer_.assign(chunk_elements() * array.bytes, std::byte{0});
      copy(set, array, chunk, [&](std::byte* in_file, std::uint64_t in_memory) {
        std::memcpy(in_file, elements.data() + in_memory, array.bytes);
      });
      const std::string path = chunk_path(array, chunk);
      PERDURE_CHECK(make_directories(path));
      PERDURE_TRY(const auto file, os::File::open(path, os::Open::create_shared));
      PERDURE_CHECK(file.write(0, buffer_));
      PERDURE_CHECK(file.sync());
      file.drop_cached();
    }
    return {};
  }

  Status finish() override {
    made_.clear();
    for (auto directory = directories_.rbegin(); directory != directories_.rend(); ++directory)
      PERDURE_CHECK(os::sync_directory(*directory));
    return {};
  }

  Status read(const DataSet& set, const array::Box& chunk, base::ByteSpan elements) override {
    if (made_ != set.path) take_up(set, chunks_.at(set.path));
    std::memset(elements.data(), 0, elements.size());
    for (const ZarrArray& array : arrays_) {
      buffer_.resize(chunk_elements() * array.bytes);
      PERDURE_TRY(const auto file, os::File::open(chunk_path(array, chunk), os::Open::read));
      PERDURE_CHECK(file.read(0, buffer_));
      copy(set, array, chunk, [&](const std::byte* in_file, std::uint64_t in_memory) {
        std::memcpy(elements.data() + in_memory, in_file, array.bytes);
      });
    }
    return {};
  }

  Status publish(bool replace) override {
    os::crash_point(os::CrashPoint::export_before_rename);
    const bool gives_way = replace && os::exists(path_).value_or(true);
    std::string old = temporary_;
    Status named = gives_way ? os::exchange_paths(temporary_, path_) : os::rename_to_free(temporary_, path_);
    if (gives_way && !named && named.error().code == PERDURE_UNSUPPORTED) named = replace_in_two_steps(old);
    if (!named) return named;
    if (gives_way && old == temporary_ && !os::exists(old + "/zarr.json").value_or(false)) {
      // It was another directory when the export began: the present one is not ours to remove.
      PERDURE_CHECK(os::exchange_paths(temporary_, path_));
      PERDURE_CHECK(check_free(path_, Format::zarr, true));
      return base::fail(PERDURE_EXISTS, path_, "something else has taken that name meanwhile");
    }
    published_ = true;
    os::crash_point(os::CrashPoint::export_after_rename);
    PERDURE_CHECK(os::sync_directory(parent_of(path_)));
    return gives_way ? os::remove_tree(old) : Status();
  }

 private:
  /// In between nothing has the name. A kill there leaves both beside it, and clean_beside() gives the old one its name
  /// again.
  Status replace_in_two_steps(std::string& old) {
    old = temporary_beside(path_, FileState::old);
    PERDURE_CHECK(os::rename_path(path_, old));
    os::crash_point(os::CrashPoint::export_replaced);
    auto renamed = os::rename_to_free(temporary_, path_);
    if (!renamed) (void)os::rename_to_free(old, path_);
    return renamed;
  }

  void take_up(const DataSet& set, const array::Index& chunk) {
    arrays_ = arrays_of(set);
    extents_ = chunk;
    dimensions_ = set.whole.dimensions;
    made_ = set.path;
  }
  std::uint64_t chunk_elements() const {
    std::uint64_t elements = 1;
    for (unsigned d = 0; d < dimensions_; ++d) elements *= extents_[d];
    return elements;
  }

  /// Calls `take(in the file's chunk, offset in memory)` for each element of a chunk, which in the file is always
  /// whole.
  template <class Take>
  void copy(const DataSet& set, const ZarrArray& array, const array::Box& chunk, Take&& take) {
    array::Box whole = chunk;
    for (unsigned d = 0; d < dimensions_; ++d) whole.end[d] = whole.begin[d] + extents_[d];
    const auto memory = array::packed(chunk, set.type.bytes(), 0), file = array::packed(whole, set.type.bytes(), 0);
    const std::uint64_t element = set.type.bytes();
    array::strided_copy(chunk, element, memory, file).each([&](auto from, auto to, auto bytes) {
      for (std::uint64_t done = 0; done < bytes; done += element)
        take(buffer_.data() + (static_cast<std::uint64_t>(to) + done) / element * array.bytes,
             static_cast<std::uint64_t>(from) + done + array.offset);
    });
  }

  std::string chunk_path(const ZarrArray& array, const array::Box& chunk) const {
    std::string path = temporary_ + "/" + array.path + "/c";
    for (unsigned d = 0; d < dimensions_; ++d) path += "/" + std::to_string(chunk.begin[d] / extents_[d]);
    if (array.last > 0) path += "/0";
    return path;
  }

  Status make_directory(const std::string& path) {
    if (!directories_.insert(path).second) return {};
    return os::make_shared_directory(path);
  }
  /// Makes the directories that contain the file.
  Status make_directories(const std::string& file) {
    for (auto slash = file.find('/', temporary_.size() + 1); slash != std::string::npos;
         slash = file.find('/', slash + 1))
      PERDURE_CHECK(make_directory(file.substr(0, slash)));
    return {};
  }

  /// Writes the zarr.json of a node.
  Status describe(const std::string& node, const Json& json) {
    const std::string path = temporary_ + (node.empty() ? "" : "/" + node) + "/zarr.json";
    PERDURE_CHECK(make_directories(path));
    PERDURE_TRY(const auto file, os::File::open(path, os::Open::create_shared));
    PERDURE_CHECK(file.write(0, base::as_bytes(json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n")));
    return file.sync();
  }
  Status make_group(const std::string& node, const Json& attributes) {
    if (!groups_.insert(node).second) return {};
    return describe(node, {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}});
  }

  static Json attributes(const DataSet& set) {
    Json json = {{"perdure_id", set.id}, {"perdure_kind", set.kind}, {"perdure_type", set.type.text()}};
    if (set.array == nullptr && set.stored_element_bytes != set.type.bytes())
      json["perdure_element_bytes"] = set.stored_element_bytes;
    if (!set.label.name.empty()) json["name"] = set.label.name;
    if (!set.label.unit.empty()) json["unit"] = set.label.unit;
    if (!set.label.description.empty()) json["description"] = set.label.description;
    return json;
  }

  Json description(const DataSet& set, const ZarrArray& array) const {
    Json shape = Json::array(), chunk = Json::array();
    for (unsigned d = 0; d < dimensions_; ++d) {
      shape.push_back(set.whole.end[d]);
      chunk.push_back(extents_[d]);
    }
    if (array.last > 0) {
      shape.push_back(array.last);
      chunk.push_back(array.last);
    }
    Json codec = {{"name", "bytes"}};
    if (array.unit > 1) codec["configuration"] = {{"endian", "little"}};
    return {{"zarr_format", 3},
            {"node_type", "array"},
            {"shape", shape},
            {"data_type", array.type},
            {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk}}}}},
            {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
            {"fill_value", array.fill},
            {"codecs", Json::array({codec})},
            {"attributes", set.type.compound() ? Json::object() : attributes(set)}};
  }

  const std::string path_, temporary_;
  std::string made_;  ///< the set that these are of:
  std::vector<ZarrArray> arrays_;
  array::Index extents_{};
  unsigned dimensions_ = 0;
  std::map<std::string, array::Index> chunks_;  ///< extents, by set
  std::set<std::string> directories_, groups_;
  std::vector<std::byte> buffer_;
  bool published_ = false;
};

}  // namespace

base::Result<std::unique_ptr<Target>> make_zarr(const std::string& path, const Facts& about) {
  auto target = std::make_unique<ZarrTarget>(path);
  PERDURE_CHECK(target->begin(about));
  return target;
}

}  // namespace perdure::portable
