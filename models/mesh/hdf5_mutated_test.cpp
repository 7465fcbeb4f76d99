// Tests that HDF5 files with damage or changes by other programs give the right data or an error. A child process reads
// each file, because the HDF5 library itself may not survive it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <random>

#include "mesh/three_fields_testing.hpp"
#include "support/sanitized.hpp"
#include "support/seeds.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::mesh {
namespace {

using Bytes = std::vector<std::byte>;

const std::vector<std::int64_t> kPlate = {5, 4};
constexpr std::array kNames = {"cells", "nodes", "faces"};

/// The outcome of reading each of the three data sets.
enum class Read { right, refused, wrong };
struct Outcome {
  std::array<Read, 3> sets{};
  bool crashed = false;  // or hung
  bool has(Read what) const { return !crashed && std::find(sets.begin(), sets.end(), what) != sets.end(); }
  bool all(Read what) const { return !crashed && sets == std::array{what, what, what}; }
};

std::ostream& operator<<(std::ostream& out, const Outcome& one) {
  if (one.crashed) return out << "crashed";
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    constexpr std::array kWords = {"right", "refused", "wrong"};
    out << (i == 0 ? "" : ", ") << kNames[i] << " " << kWords[static_cast<std::size_t>(one.sets[i])];
  }
  return out;
}

Bytes bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void put(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Returns all elements of a data set without its halo, x fastest.
Bytes elements_of(const Dataset& set) {
  Bytes all;
  each_row(set.inner(), [&](const Index& at) {
    const std::byte* row = set.address(at);
    all.insert(all.end(), row, row + static_cast<std::size_t>(set.inner().end[0] - at[0]) * set.element_bytes());
  });
  return all;
}

std::array<Bytes, 3> elements_written() {
  Mesh mesh;
  Three sets(mesh, kPlate);
  sets.fill();
  return {elements_of(sets.cells), elements_of(sets.nodes), elements_of(sets.faces)};
}

/// Reads in a child process, with a time limit.
Outcome read_all(const std::string& path, const Hdf5Options& options, const std::array<Bytes, 3>& expected) {
  constexpr int kSaid = 100;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
    int said = kSaid, weight = 1;
    Mesh mesh;
    Three sets(mesh, kPlate);
    for (std::size_t i = 0; i < kNames.size(); ++i, weight *= 3) {
      Dataset& set = *mesh.datasets()[i];
      Read read = Read::refused;
      try {
        read_hdf5(mesh, path, set, options);
        read = elements_of(set) == expected[i] ? Read::right : Read::wrong;
      } catch (const std::runtime_error&) {
      }
      said += weight * static_cast<int>(read);
    }
    ::_exit(said);
  }
  int status = 0;
  Outcome outcome;
  outcome.crashed = child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
                    WEXITSTATUS(status) < kSaid || WEXITSTATUS(status) >= kSaid + 27;
  if (outcome.crashed) return outcome;
  int said = WEXITSTATUS(status) - kSaid;
  for (Read& one : outcome.sets) one = static_cast<Read>(said % 3), said /= 3;
  return outcome;
}

/// The place of a data set's elements in the file.
struct InFile {
  std::ptrdiff_t offset;
  std::size_t bytes;
};
std::array<InFile, 3> elements_at(const std::string& path) {
  std::array<InFile, 3> all{};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const hid_t set = H5Dopen2(file, kNames[i], H5P_DEFAULT);
    all[i] = {static_cast<std::ptrdiff_t>(H5Dget_offset(set)), static_cast<std::size_t>(H5Dget_storage_size(set))};
    EXPECT_GE(H5Dclose(set), 0);
  }
  EXPECT_GE(H5Fclose(file), 0);
  return all;
}

/// Writes the files of one test.
class MutatedFields : public testing::Test {
 protected:
  static constexpr std::uint64_t kFlips = 8;  // at most this many bits flip
  void SetUp() override {
    write_three(1, kPlate, path_, {});
    whole_ = bytes_in(path_);
    places_ = elements_at(path_);
  }
  /// Returns the file's current bytes at the places of the undamaged elements.
  std::array<Bytes, 3> elements_in(const Bytes& file) const {
    std::array<Bytes, 3> elements;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto first = file.begin() + places_[i].offset;
      elements[i].assign(first, first + static_cast<std::ptrdiff_t>(places_[i].bytes));
    }
    return elements;
  }
  /// Returns `file` with some of its bits flipped.
  static Bytes flipped(Bytes file, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::uint64_t flips = 1 + random() % kFlips; flips > 0; --flips)
      file[random() % file.size()] ^= static_cast<std::byte>(1U << random() % 8);
    return file;
  }
  const test_support::TemporaryDirectory directory_{test_support::TemporaryDirectory::Place::memory};
  const std::string path_ = directory_ / "fields.h5";
  const std::array<Bytes, 3> written_ = elements_written();
  Bytes whole_;
  std::array<InFile, 3> places_{};
};

TEST_F(MutatedFields, ThatNobodyChangedAreRight) {
  EXPECT_TRUE(read_all(path_, {}, written_).all(Read::right));
  EXPECT_EQ(elements_in(whole_), written_);
  Bytes other = whole_;
  other[static_cast<std::size_t>(places_[1].offset)] ^= std::byte{1};
  put(path_, other);
  EXPECT_EQ(read_all(path_, {}, written_).sets, (std::array{Read::right, Read::wrong, Read::right}));
}

/// Counts the outcomes of many files. If HDF5 itself crashes the reader, the test reports that and does not fail.
struct Tally {
  explicit Tally(test_support::ManySeeds all) : seeds(all) {}
  template <class ReadSeed>
  void read_each(const ReadSeed& read) {
    for (std::uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
      const Outcome outcome = read(seed);
      crashed += outcome.crashed ? 1 : 0;
      refused += outcome.has(Read::refused) ? 1 : 0;
      if (outcome.has(Read::wrong)) wrong.push_back(seed);
    }
    testing::Test::RecordProperty("refused", static_cast<int>(refused));
    testing::Test::RecordProperty("wrong", static_cast<int>(wrong.size()));
    testing::Test::RecordProperty("crashed", static_cast<int>(crashed));
    if (crashed > 0) std::cout << crashed << " of " << seeds.count() << " files ended who read them\n";
  }
  const test_support::ManySeeds seeds;
  std::uint64_t crashed = 0, refused = 0;
  std::vector<std::uint64_t> wrong;  // seeds
};

// Elements have no checksum, so their current bits in the file count as right.
TEST_F(MutatedFields, WithBitsTurnedOverAreRightOrRefused) {
  Tally tally(test_support::many_seeds(1, 600, 60));
  tally.read_each([&](std::uint64_t seed) {
    const Bytes file = flipped(whole_, seed);
    put(path_, file);
    return read_all(path_, {}, elements_in(file));
  });
  EXPECT_EQ(tally.wrong, std::vector<std::uint64_t>());
  EXPECT_GT(tally.refused, 0U);
}

TEST_F(MutatedFields, OfOneOfSeveralProcessesAreRightOrRefused) {
  Hdf5Options options;
  options.form = Form::per_process;
  write_three(2, kPlate, path_, options);
  const std::string second = path_of_rank(path_, 1);
  const Bytes whole = bytes_in(second);
  const auto places = elements_at(second);
  Tally tally(test_support::many_seeds(1, 200, 20));
  tally.read_each([&](std::uint64_t seed) {
    Bytes file = flipped(whole, seed);
    for (const InFile& elements : places)  // elements stay unchanged
      std::copy_n(whole.begin() + elements.offset, elements.bytes, file.begin() + elements.offset);
    put(second, file);
    return read_all(path_, options, written_);
  });
  EXPECT_EQ(tally.wrong, std::vector<std::uint64_t>());
}

/// Writes a file as a program with the library's defaults does.
void write_plain(const std::string& path, const std::array<Bytes, 3>& elements) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const std::array types = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_NATIVE_INT};
  const std::array<std::array<hsize_t, 2>, 3> sizes = {{{4, 5}, {5, 6}, {4, 6}}};  // x last
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const hid_t space = H5Screate_simple(2, sizes[i].data(), nullptr);
    const hid_t set = H5Dcreate2(file, kNames[i], types[i], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(set, types[i], H5S_ALL, H5S_ALL, H5P_DEFAULT, elements[i].data()), 0);
    EXPECT_TRUE(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
  }
  EXPECT_GE(H5Fclose(file), 0);
}

// Such a file has no checksums, so a bit flipped in an address may make other bytes appear as elements. That is rare: a
// changed type or size, and missing elements, are detected.
TEST_F(MutatedFields, OfOtherProgramsAreSeldomTakenForOthers) {
  write_plain(path_, written_);
  const Bytes whole = bytes_in(path_);
  places_ = elements_at(path_);
  EXPECT_TRUE(read_all(path_, {}, written_).all(Read::right));
  const auto read = [&](std::uint64_t seed) {
    const Bytes file = flipped(whole, seed);
    put(path_, file);
    return read_all(path_, {}, elements_in(file));
  };
  constexpr std::uint64_t kBesideButEmpty = 1790;  // HDF5 1.10.8 dereferences a null pointer for an element range
                                                   // without bytes
  EXPECT_FALSE(read(kBesideButEmpty).crashed);
  Tally tally(test_support::many_seeds(1, 300, 30));
  tally.read_each(read);
  EXPECT_LE(tally.wrong.size(), tally.seeds.count() / 100);
  EXPECT_GT(tally.refused, 0U);
}

TEST_F(MutatedFields, ThatWereCutShortAreRefused) {
  for (std::size_t length = 0; length < whole_.size(); length += 1 + length / test_support::unless_sanitized(50, 8)) {
    put(path_, std::span(whole_).first(length));
    const Outcome outcome = read_all(path_, {}, written_);
    EXPECT_TRUE(outcome.all(Read::refused)) << length << " of " << whole_.size() << " bytes: " << outcome;
  }
}

/// An object that a program puts in place of data set `cells`, which it removed.
struct Replaced {
  const char* what;
  std::function<void(hid_t file)> by;
  Read then = Read::refused;
};

using Sizes = std::vector<hsize_t>;  // x last

/// Makes a data set as another program would; `describe` may add to it.
std::function<void(hid_t)> data_set(
    hid_t type, Sizes sizes, std::function<void(hid_t set)> describe = [](hid_t) {},
    std::function<void(hid_t properties)> lay_out = [](hid_t) {}) {
  return [=](hid_t file) {
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    lay_out(properties);
    const hid_t set = H5Dcreate2(file, "cells", type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    EXPECT_GE(set, 0);
    const Bytes elements = elements_written()[0];
    if (H5Tget_class(type) == H5T_FLOAT && H5Sget_simple_extent_npoints(space) == 20) {
      EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()), 0);
    }
    describe(set);
    EXPECT_TRUE(H5Dclose(set) >= 0 && H5Pclose(properties) >= 0 && H5Sclose(space) >= 0);
  };
}

/// Makes an attribute of these integers.
std::function<void(hid_t)> numbers(const char* name, std::vector<std::int64_t> values, hid_t type = H5T_STD_I64LE) {
  return [=](hid_t set) {
    const hsize_t count = values.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t attribute = H5Acreate2(set, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t as = H5Tget_class(type) == H5T_STRING ? type : H5T_NATIVE_INT64;
    EXPECT_TRUE(H5Awrite(attribute, as, values.data()) >= 0 && H5Aclose(attribute) >= 0 && H5Sclose(space) >= 0);
  };
}

/// Adds both attributes.
std::function<void(hid_t)> described(std::vector<std::int64_t> first_index, std::vector<std::int64_t> extents) {
  return [=](hid_t set) {
    numbers("first_index", first_index)(set);
    numbers("extents", extents)(set);
  };
}

/// Returns a type that is not numeric but has as many bytes as a number.
hid_t eight_bytes(H5T_class_t kind) {
  if (kind == H5T_STRING) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    (void)H5Tset_size(text, 8);
    return text;
  }
  if (kind == H5T_ENUM) {
    const hid_t words = H5Tenum_create(H5T_NATIVE_INT64);
    const std::int64_t value = 1;
    (void)H5Tenum_insert(words, "one", &value);
    return words;
  }
  if (kind == H5T_BITFIELD) return H5Tcopy(H5T_STD_B64LE);
  if (kind == H5T_VLEN) return H5Tvlen_create(H5T_NATIVE_DOUBLE);
  const hsize_t one = 1;
  if (kind == H5T_ARRAY) return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &one);
  const hid_t type = H5Tcreate(kind, 8);
  if (kind == H5T_COMPOUND) (void)H5Tinsert(type, "value", 0, H5T_NATIVE_DOUBLE);
  return type;
}

std::vector<Replaced> what_is_no_data_set() {
  return {
      {"nothing", [](hid_t) {}},
      {"a group", [](hid_t file) { (void)H5Gclose(H5Gcreate2(file, "cells", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); }},
      {"a type",
       [](hid_t file) {
         const hid_t type = H5Tcopy(H5T_IEEE_F64LE);
         EXPECT_GE(H5Tcommit2(file, "cells", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), 0);
         (void)H5Tclose(type);
       }},
      {"a link to nothing", [](hid_t file) { (void)H5Lcreate_soft("/none", file, "cells", H5P_DEFAULT, H5P_DEFAULT); }},
      {"a link to itself", [](hid_t file) { (void)H5Lcreate_soft("/cells", file, "cells", H5P_DEFAULT, H5P_DEFAULT); }},
      {"a link to a file that is not there",
       [](hid_t file) { (void)H5Lcreate_external("none.h5", "/cells", file, "cells", H5P_DEFAULT, H5P_DEFAULT); }},
      {"a link to another data set",
       [](hid_t file) { (void)H5Lcreate_hard(file, "nodes", file, "cells", H5P_DEFAULT, H5P_DEFAULT); }}};
}

std::vector<Replaced> of_other_types() {
  std::vector<Replaced> all = {{"f4", data_set(H5T_IEEE_F32LE, {4, 5})},
                               {"i8", data_set(H5T_STD_I64LE, {4, 5})},
                               {"u8", data_set(H5T_STD_U64BE, {4, 5})},
                               {"f8, the other way round", data_set(H5T_IEEE_F64BE, {4, 5}), Read::right}};
  for (const H5T_class_t kind : {H5T_STRING, H5T_BITFIELD, H5T_OPAQUE, H5T_COMPOUND, H5T_ENUM, H5T_VLEN, H5T_ARRAY})
    all.push_back({"no number", data_set(eight_bytes(kind), {4, 5})});
  const hid_t biased = H5Tcopy(H5T_IEEE_F64LE);
  (void)H5Tset_ebias(biased, 1000);
  all.push_back({"another exponent", data_set(biased, {4, 5})});
  const hid_t shorter = H5Tcopy(H5T_IEEE_F64LE);
  (void)H5Tset_fields(shorter, 63, 52, 11, 1, 51);
  all.push_back({"fewer bits", data_set(shorter, {4, 5})});
  return all;
}

std::vector<Replaced> of_other_shapes() {
  const auto f8 = [](Sizes sizes) { return data_set(H5T_IEEE_F64LE, std::move(sizes)); };
  std::vector<Replaced> all = {{"the same", f8({4, 5}), Read::right}};
  for (const Sizes& sizes : std::initializer_list<Sizes>{
           {20}, {5, 4}, {4, 6}, {3, 5}, {0, 5}, {4, 5, 1}, {1, 4, 5}, {4, 5, 1, 1, 1}, Sizes(32, 1)})
    all.push_back({"other sizes", f8(sizes)});
  for (const H5S_class_t kind : {H5S_SCALAR, H5S_NULL})
    all.push_back({"no sizes", [kind](hid_t file) {
                     const hid_t space = H5Screate(kind);
                     (void)H5Dclose(
                         H5Dcreate2(file, "cells", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                     (void)H5Sclose(space);
                   }});
  const auto in_pieces = [](hid_t properties) {
    const Sizes pieces = {3, 2};
    EXPECT_GE(H5Pset_chunk(properties, 2, pieces.data()), 0);
  };
  const auto nothing = [](hid_t) {};
  all.push_back({"pieces", data_set(H5T_IEEE_F64LE, {4, 5}, nothing, in_pieces), Read::right});
  all.push_back({"the same, that nobody wrote", [](hid_t file) {
                   const Sizes sizes = {4, 5};
                   const hid_t space = H5Screate_simple(2, sizes.data(), nullptr);
                   (void)H5Dclose(
                       H5Dcreate2(file, "cells", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                   (void)H5Sclose(space);
                 }});
  const auto beside = [](hid_t properties) { EXPECT_GE(H5Pset_layout(properties, H5D_COMPACT), 0); };
  all.push_back({"beside what describes it", data_set(H5T_IEEE_F64LE, {4, 5}, nothing, beside), Read::right});
  constexpr hsize_t kHuge = hsize_t{1} << 62U;
  all.push_back({"huge", data_set(H5T_IEEE_F64LE, {4, kHuge}, nothing, in_pieces)});
  return all;
}

std::vector<Replaced> of_other_indices() {
  const auto f8 = [](std::function<void(hid_t)> describe, Sizes sizes = {4, 5}) {
    return data_set(H5T_IEEE_F64LE, std::move(sizes), std::move(describe));
  };
  const hid_t text = eight_bytes(H5T_STRING);
  return {{"the same", f8(described({0, 0}, {5, 4})), Read::right},
          {"smaller integers", f8(numbers("first_index", {0, 0}, H5T_STD_I16BE)), Read::right},
          {"first others", f8(described({1, 0}, {5, 4}))},
          {"first ones before", f8(described({0, -1}, {5, 4}))},
          {"the last that there can be", f8(described({INT64_MAX, 0}, {5, 4}))},
          {"nearly the last", f8(described({INT64_MAX - 5, 0}, {5, 4}))},
          {"the first that there can be", f8(described({INT64_MIN, INT64_MIN}, {5, 4}))},
          {"fewer than it says", f8(described({0, 0}, {5, 4}), {3, 5})},
          {"of more", f8(described({0, 0}, {5, 5}))},
          {"of others", f8(described({0, 0}, {4, 5}))},
          {"of none", f8(described({0, 0}, {-5, -4}))},
          {"three first indices", f8(numbers("first_index", {0, 0, 0}))},
          {"one first index", f8(numbers("first_index", {0}))},
          {"first indices in words", f8(numbers("first_index", {0, 0}, text))},
          {"reals as first indices", f8(numbers("first_index", {0, 0}, H5T_IEEE_F64LE))},
          {"three extents", f8(described({0, 0}, {5, 4, 1}))},
          {"extents in words", f8(numbers("extents", {5, 4}, text))}};
}

TEST_F(MutatedFields, OfAnotherStructureAreRightOrRefusedAndLeaveTheOthersAlone) {
  for (const auto& family : {what_is_no_data_set(), of_other_types(), of_other_shapes(), of_other_indices()})
    for (const Replaced& replaced : family) {
      SCOPED_TRACE(replaced.what);
      put(path_, whole_);
      const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
      ASSERT_GE(H5Ldelete(file, "cells", H5P_DEFAULT), 0);
      replaced.by(file);
      ASSERT_GE(H5Fclose(file), 0);
      const Outcome outcome = read_all(path_, {}, written_);
      EXPECT_FALSE(outcome.crashed);
      EXPECT_EQ(outcome.sets, (std::array{replaced.then, Read::right, Read::right})) << outcome;
    }
}

}  // namespace
}  // namespace perdure::mesh
