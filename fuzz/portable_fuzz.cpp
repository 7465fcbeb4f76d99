// Fuzzes the import of HDF5 files: the input draws a file, which the HDF5 library writes. So the library's own handling
// of damaged bytes is left out. All valid content is tried: names, types, extents, attributes.
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <random>
#include <string>

#include "portable/import_version.hpp"
#include "reader/stored_content.hpp"
#include "target.hpp"

/// The leak checker calls this. The HDF5 library itself leaks types that it refuses (408 bytes).
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace perdure::fuzz {
namespace {

constexpr std::uint64_t kMuch = 8U << 20;  // limit of any file: one that claims more fits no store

/// A directory in memory if there is such a file system.
class Directory {
 public:
  Directory() { require(::mkdtemp(path_.data()) != nullptr); }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ =
      std::string(std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") + "/perdure-fuzz-XXXXXX";
};

class Draw {
 public:
  explicit Draw(base::ConstByteSpan input) : input_(input) {}
  /// Returns 0, the usual choice, once the input is used up.
  std::size_t below(std::size_t limit) {
    return at_ < input_.size() ? std::to_integer<std::size_t>(input_[at_++]) % limit : 0;
  }
  template <class T, std::size_t N>
  const T& of(const std::array<T, N>& all) {
    return all[below(N)];
  }
  bool once_in(std::size_t times) { return below(times) == times - 1; }

 private:
  base::ConstByteSpan input_;
  std::size_t at_ = 0;
};

constexpr std::array<hsize_t, 14> kExtents = {
    3,          1,         2, 7, 0, 64, 1U << 20, 1ULL << 31, 1ULL << 32, 1ULL << 40, 1ULL << 59, (1ULL << 60) - 1,
    1ULL << 62, 1ULL << 63};
constexpr std::array<std::int64_t, 10> kNumbers = {1, 0, 2, 7, -1, 3, INT32_MAX, 1LL << 32, INT64_MIN, 100};
const std::array<std::string, 16> kNames = {
    "a",   "b",   "ranks", "0",    "1", "00", "1000000",   "-1",
    "999", "c.d", "x y",   "\xff", "#", ".",  "zarr.json", std::string(5000, 'n')};
const std::array<std::string, 18> kTexts = {"K",
                                            "",
                                            "list",
                                            "replicated",
                                            "global",
                                            "opaque",
                                            "f8",
                                            "{x:f8,y:i4}",
                                            "v0",
                                            "v18446744073709551615",
                                            "{a:3f8}",
                                            "{a:f8,a:f8}",
                                            "{",
                                            "99999999999999999999f8",
                                            "\xff\xfe",
                                            std::string(4096, 't'),
                                            std::string(70000, 't'),
                                            "memory"};
const std::array<std::string, 8> kMembers = {"x", "r", "i", "", "a,b", "}", ":", "x"};

hid_t number_type(Draw& draw) {
  const std::array<hid_t, 6> types = {H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_IEEE_F32BE,
                                      H5T_STD_U8LE,   H5T_STD_I64BE, H5T_STD_U16LE};
  const hid_t type = H5Tcopy(draw.of(types));
  if (draw.once_in(8)) (void)H5Tset_size(type, 1 + draw.below(20));
  if (draw.once_in(8)) (void)H5Tset_precision(type, 1 + draw.below(64));
  return type;
}

hid_t any_type(Draw& draw, int depth);

hid_t compound_type(Draw& draw, int depth) {
  const std::size_t bytes = 1 + draw.below(64), members = draw.below(6);
  const hid_t type = H5Tcreate(H5T_COMPOUND, draw.once_in(8) ? 1U << 21 : bytes);
  std::size_t at = 0;
  for (std::size_t i = 0; i < members; ++i) {
    const hid_t member = any_type(draw, depth + 1);
    at += draw.below(4);
    (void)H5Tinsert(type, draw.of(kMembers).c_str(), at, member);
    at += draw.once_in(5) ? 0 : H5Tget_size(member);
    (void)H5Tclose(member);
  }
  return type;
}

hid_t array_type(Draw& draw, int depth) {
  std::array<hsize_t, 4> extents{};
  for (hsize_t& extent : extents) extent = draw.once_in(6) ? 65536 : 1 + draw.below(4);
  const hid_t base = any_type(draw, depth + 1);
  const hid_t type = H5Tarray_create2(base, static_cast<unsigned>(1 + draw.below(4)), extents.data());
  (void)H5Tclose(base);
  return type;
}

hid_t enumeration_type(Draw& draw) {
  const hid_t type = H5Tenum_create(draw.once_in(2) ? H5T_STD_I32LE : H5T_STD_I8LE);
  const std::array<std::int32_t, 3> values = {0, 1, 2};
  const std::array<const char*, 3> names = {"FALSE", "TRUE", "MAYBE"};
  for (std::size_t i = 0; i < 2 + draw.below(2); ++i) (void)H5Tenum_insert(type, names[i], &values[i]);
  return type;
}

hid_t text_type(Draw& draw) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, draw.once_in(2) ? H5T_VARIABLE : 1 + draw.below(9));
  return type;
}

hid_t any_type(Draw& draw, int depth) {
  const std::size_t kind = draw.below(depth > 3 ? 1 : 12);
  if (kind == 5) return compound_type(draw, depth);
  if (kind == 6) return array_type(draw, depth);
  if (kind == 7) return enumeration_type(draw);
  if (kind == 8) return text_type(draw);
  if (kind == 9) return H5Tcopy(draw.once_in(2) ? H5T_STD_REF_OBJ : H5T_STD_B32LE);
  if (kind == 10) return H5Tcreate(H5T_OPAQUE, draw.once_in(3) ? 1U << 31 : 1 + draw.below(9));
  if (kind == 11) return H5Tvlen_create(H5T_STD_I32LE);
  return number_type(draw);
}

hid_t any_space(Draw& draw, std::size_t extents_known) {
  if (draw.once_in(10)) return H5Screate(draw.once_in(2) ? H5S_NULL : H5S_SCALAR);
  std::array<hsize_t, 10> extents{};
  const auto dimensions = 1 + draw.below(draw.once_in(8) ? 10 : 3);
  for (std::size_t d = 0; d < dimensions; ++d) extents[d] = kExtents[draw.below(extents_known)];
  return H5Screate_simple(static_cast<int>(dimensions), extents.data(), nullptr);
}

void write_attribute(hid_t of, const char* name, hid_t type, hid_t space, const void* value) {
  const hid_t attribute = H5Acreate2(of, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0 && value != nullptr) (void)H5Awrite(attribute, type, value);
  (void)H5Aclose(attribute);
}

/// Adds a number, a text of either kind, one that was never written, or something else.
void any_attribute(Draw& draw, hid_t of, const char* name) {
  const hid_t one = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
  const std::string& text = draw.of(kTexts);
  const char* const variable = text.c_str();
  const std::int64_t number = draw.of(kNumbers);
  const std::size_t kind = draw.below(6);
  if (kind == 0) write_attribute(of, name, H5T_NATIVE_INT64, one, &number);
  if (kind == 1 || kind == 4) {
    (void)H5Tset_size(type, kind == 4 ? std::max<std::size_t>(text.size(), 1) : H5T_VARIABLE);
    const void* fixed = variable;
    write_attribute(of, name, type, one, kind == 4 ? fixed : static_cast<const void*>(&variable));
  }
  if (kind == 2) {
    (void)H5Tset_size(type, H5T_VARIABLE);
    write_attribute(of, name, type, one, nullptr);
  }
  const hid_t other_space = any_space(draw, 4), other = any_type(draw, 0);
  if (kind == 3) write_attribute(of, name, other, other_space, nullptr);
  if (kind == 5) write_attribute(of, name, H5T_IEEE_F32LE, one, nullptr);
  for (const hid_t space : {one, other_space}) (void)H5Sclose(space);
  for (const hid_t made : {type, other}) (void)H5Tclose(made);
}

void any_set(Draw& draw, hid_t group) {
  const std::string& name = draw.of(kNames);
  const hid_t type = any_type(draw, 0), space = any_space(draw, draw.once_in(3) ? kExtents.size() : 6);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  const std::array<hsize_t, 10> chunk = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  if (draw.once_in(3)) (void)H5Pset_chunk(properties, H5Sget_simple_extent_ndims(space), chunk.data());
  const hid_t set = H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  for (const char* attribute : {"name", "unit", "perdure_id", "perdure_kind", "perdure_type", "perdure_element_bytes"})
    if (set >= 0 && draw.once_in(3)) any_attribute(draw, set, attribute);
  (void)H5Dclose(set);
  (void)H5Pclose(properties);
  (void)H5Sclose(space);
  (void)H5Tclose(type);
}

/// Adds an object that is no data set, or a second link to one: groups, named types, links.
void any_other(Draw& draw, hid_t group) {
  const std::string& name = draw.of(kNames);
  const std::size_t kind = draw.below(5);
  if (kind == 0) (void)H5Gclose(H5Gcreate2(group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (kind == 1) (void)H5Lcreate_soft(draw.of(kNames).c_str(), group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 2) (void)H5Lcreate_hard(group, draw.of(kNames).c_str(), group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 3) (void)H5Lcreate_external("none.h5", "/a", group, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  const hid_t type = any_type(draw, 0);
  if (kind == 4) (void)H5Tcommit2(group, name.c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  (void)H5Tclose(type);
}

void fill(Draw& draw, hid_t group) {
  for (std::size_t sets = draw.below(4); sets > 0; --sets) any_set(draw, group);
  if (draw.once_in(3)) any_other(draw, group);
}

void fill_ranks(Draw& draw, hid_t file) {
  const hid_t ranks = H5Gcreate2(file, "ranks", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (std::size_t count = draw.below(4); count > 0; --count) {
    const hid_t one = H5Gcreate2(ranks, draw.once_in(4) ? draw.of(kNames).c_str() : std::to_string(count - 1).c_str(),
                                 H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (one >= 0) fill(draw, one);
    (void)H5Gclose(one);
  }
  if (draw.once_in(6)) any_other(draw, ranks);
  (void)H5Gclose(ranks);
}

void write_file(base::ConstByteSpan input, const std::string& path) {
  Draw draw(input);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  require(file >= 0);
  if (draw.once_in(2)) any_attribute(draw, file, "ranks");
  fill(draw, file);
  if (draw.once_in(2)) fill_ranks(draw, file);
  (void)H5Fclose(file);
}

/// Readers can read all of a version whose import was acknowledged.
void expect_readable(store::Store& store) {
  const auto listing = reader::find_version(store, "back", 1);
  require(listing.has_value());
  auto content = reader::StoredContent::open(store, *listing);
  require(content.has_value());
  const auto sets = portable::choose(*content, {});
  require(sets.has_value());
  Bytes bytes;
  for (const auto& set : *sets) {
    bytes.resize(set.bytes());
    const auto read =
        set.array != nullptr ? content->read(*set.array, set.whole, bytes) : content->read_local(set.local, 0, bytes);
    require(read.has_value());
  }
}

void import_plain_file();

void prepare() {
  (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  // A file may claim more than any disk has: the import allocates room first, and must get an error.
  const rlimit most{kMuch, RLIM_INFINITY};
  (void)::signal(SIGXFSZ, SIG_IGN);
  (void)::setrlimit(RLIMIT_FSIZE, &most);
  import_plain_file();
}

}  // namespace

namespace {

/// Without this check the other results mean nothing. This program links the library that the module loads.
void import_plain_file() {
  const Directory directory;
  const std::string path = directory / "plain.h5";
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extent = 3;
  const hid_t space = H5Screate_simple(1, &extent, nullptr);
  (void)H5Dclose(H5Dcreate2(file, "a", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  (void)H5Sclose(space);
  (void)H5Fclose(file);
  const auto store = store::make_store(directory / "store").value();
  require(store->prepare().has_value());
  const auto imported = portable::import_hdf5(path, *store, "back", 1, [](std::uint64_t) {});
  require(imported && imported->bytes == 24);
  expect_readable(*store);
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  [[maybe_unused]] static const bool prepared = (prepare(), true);
  const Directory directory;
  const std::string path = directory / "input.h5", root = directory / "store";
  write_file(input, path);
  const auto store = store::make_store(root).value();
  require(store->prepare().has_value());
  const auto imported = portable::import_hdf5(path, *store, "back", 1, [](std::uint64_t) {});
  require(imported || imported.error().code != PERDURE_INTERNAL);
  if (imported) expect_readable(*store);
  if (!imported) require(!reader::find_version(*store, "back", 1));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> list{Bytes(64)};
  for (unsigned seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    list.emplace_back(16 + 16 * (seed % 12));
    for (std::byte& byte : list.back()) byte = static_cast<std::byte>(random());
  }
  return list;
}

}  // namespace perdure::fuzz
