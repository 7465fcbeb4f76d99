#include "mesh/hdf5_file.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "mesh/rows.hpp"

namespace perdure::mesh {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t> && std::is_same_v<herr_t, int>);

#if H5_VERSION_GE(1, 10, 2)
constexpr H5F_libver_t kWithSums = H5F_LIBVER_V18;  // the format that HDF5 1.8 and later read
#else
constexpr H5F_libver_t kWithSums = H5F_LIBVER_LATEST;
#endif

// Holds the library for this thread. Meanwhile the library does not print its errors; this file turns them into
// exceptions.
class Turn {
 public:
  Turn() : lock_(mutex()) {
    (void)H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Turn() {
    (void)H5Eclear2(H5E_DEFAULT);  // the error stack may hold the error of a thread that has ended
    (void)H5Eset_auto2(H5E_DEFAULT, print_, data_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex of_all;
    return of_all;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

struct Innermost {
  std::string text;
  int error_number = 0;
};

herr_t note_innermost(unsigned /*n*/, const H5E_error2_t* error, void* data) {
  auto& found = *static_cast<Innermost*>(data);
  if (error->desc == nullptr) return 0;
  found.text = error->desc;
  if (const char* number = std::strstr(error->desc, "errno = ")) found.error_number = std::atoi(number + 8);
  return 0;
}

[[noreturn]] void fail(const std::string& what, int error_number) {
  throw std::runtime_error(what + " failed: " + std::generic_category().message(error_number));
}

// Throws the error of the last failed library call, with the system's reason if the library has it.
[[noreturn]] void fail(const std::string& what) {
  Innermost found;
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, &note_innermost, &found);
  if (found.error_number > 0) fail(what, found.error_number);
  throw std::runtime_error(what + " failed" + (found.text.empty() ? "" : ": " + found.text.substr(0, 200)));
}

hid_t number_type(std::string_view text) {
  const std::pair<std::string_view, hid_t> all[] = {
      {"f8", H5T_NATIVE_DOUBLE}, {"f4", H5T_NATIVE_FLOAT}, {"i1", H5T_NATIVE_INT8},  {"i2", H5T_NATIVE_INT16},
      {"i4", H5T_NATIVE_INT32},  {"i8", H5T_NATIVE_INT64}, {"u1", H5T_NATIVE_UINT8}, {"u2", H5T_NATIVE_UINT16},
      {"u4", H5T_NATIVE_UINT32}, {"u8", H5T_NATIVE_UINT64}};
  for (const auto& [name, type] : all)
    if (name == text) return type;
  return -1;
}

// The byte order in the file does not matter, but all bits of the type must match. A real with another exponent bias,
// for example, is another type of the same size.
std::string type_text(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) return {};
  const char letter = kind == H5T_FLOAT ? 'f' : H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
  const std::string text = letter + std::to_string(H5Tget_size(type));
  if (number_type(text) < 0) return {};
  const Hdf5Object plain(H5Tcopy(number_type(text)), H5Tclose);
  return H5Tset_order(plain.id(), H5Tget_order(type)) >= 0 && H5Tequal(plain.id(), type) > 0 ? text : std::string();
}

using Extents = std::array<hsize_t, kMostBlockDimensions>;

// Returns the extents in the file's order, x last.
Extents x_last(const Box& box) {
  Extents extents{};
  for (unsigned d = 0; d < box.dimensions; ++d)
    extents[box.dimensions - 1 - d] = static_cast<hsize_t>(box.end[d] - box.begin[d]);
  return extents;
}

Hdf5Object space_of(const Box& box) {
  const Extents extents = x_last(box);
  return {H5Screate_simple(static_cast<int>(box.dimensions), extents.data(), nullptr), H5Sclose};
}

// Selects `box` among the elements of `all`.
Hdf5Object chosen(const Box& box, const Box& all) {
  Extents first{};
  for (unsigned d = 0; d < box.dimensions; ++d)
    first[box.dimensions - 1 - d] = static_cast<hsize_t>(box.begin[d] - all.begin[d]);
  const Extents extents = x_last(box);
  Hdf5Object space = space_of(all);
  if (!space || H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, first.data(), nullptr, extents.data(), nullptr) < 0)
    fail("choosing " + box.text());
  return space;
}

void set_value(hid_t of, const char* name, hid_t type, const Hdf5Object& space, const void* value) {
  const Hdf5Object attribute(H5Acreate2(of, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute || H5Awrite(attribute.id(), type, value) < 0) fail(std::string("writing the attribute ") + name);
}

void set_text(hid_t of, const char* name, const std::string& text) {
  if (text.empty()) return;
  const Hdf5Object type(H5Tcopy(H5T_C_S1), H5Tclose);
  (void)H5Tset_size(type.id(), H5T_VARIABLE);
  (void)H5Tset_cset(type.id(), H5T_CSET_UTF8);
  const char* value = text.c_str();
  set_value(of, name, type.id(), {H5Screate(H5S_SCALAR), H5Sclose}, static_cast<const void*>(&value));
}

template <class Indices>
void set_indices(hid_t of, const char* name, const Indices& indices, unsigned dimensions) {
  const hsize_t count = dimensions;
  set_value(of, name, H5T_NATIVE_INT64, {H5Screate_simple(1, &count, nullptr), H5Sclose}, indices.data());
}

// Returns an empty list if there is no attribute of that name. An attribute with other content is an error: otherwise
// the data set would count as another program's, and its elements as the wanted ones.
std::vector<std::int64_t> numbers_of(hid_t of, const char* name, std::size_t count) {
  const htri_t there = H5Aexists(of, name);
  if (there < 0) fail(std::string("looking for the attribute ") + name);
  if (there == 0) return {};
  const Hdf5Object attribute(H5Aopen(of, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Object type(H5Aget_type(attribute.id()), H5Tclose), space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Tget_class(type.id()) != H5T_INTEGER ||
      H5Sget_simple_extent_npoints(space.id()) != static_cast<hssize_t>(count))
    throw std::runtime_error(std::string("the attribute ") + name + " is not " + std::to_string(count) +
                             (count == 1 ? " integer" : " integers"));
  std::vector<std::int64_t> numbers(count);
  if (H5Aread(attribute.id(), H5T_NATIVE_INT64, numbers.data()) < 0) fail(std::string("reading the attribute ") + name);
  return numbers;
}

// Rejects a contiguous data set that has the wrong number of bytes in the file. The library would invent the missing
// bytes, or crash.
void check_bytes(hid_t set, const std::string& name, hid_t type, hid_t space) {
  const Hdf5Object properties(H5Dget_create_plist(set), H5Pclose);
  if (!properties) fail("looking how data set '" + name + "' lies in the file");
  const H5D_layout_t layout = H5Pget_layout(properties.id());
  if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) return;
  const auto elements = static_cast<hsize_t>(H5Sget_simple_extent_npoints(space));
  const hsize_t bytes = H5Dget_storage_size(set), size = H5Tget_size(type);
  if (bytes / size != elements || bytes % size != 0)
    throw std::runtime_error("data set '" + name + "' has " + std::to_string(elements) + " elements of " +
                             std::to_string(size) + " bytes, of which the file has " + std::to_string(bytes));
}

void sync_directory_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) fail("opening '" + directory + "'", errno);
  const int error = ::fsync(opened) == 0 ? 0 : errno;
  (void)::close(opened);
  // EINVAL: the file system has no fsync for directories
  if (error != 0 && error != EINVAL) fail("fsync of '" + directory + "'", error);
}

// The library cannot close a file if it cannot write its buffers. So this function tests for room first.
void try_room(const std::string& path, std::size_t bytes) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail("making the file", errno);
  const std::vector<char> zeros(bytes);
  const ssize_t written = ::write(file, zeros.data(), bytes);
  const int error = written < 0 ? errno : static_cast<std::size_t>(written) < bytes ? ENOSPC : 0;
  (void)::close(file);
  if (error != 0) fail("making the file", error);
}

// Returns the number of `at` among the elements of `box`.
std::int64_t number_of(const Index& at, const Box& box) {
  std::int64_t number = 0;
  for (unsigned d = box.dimensions; d-- > 0;) number = number * (box.end[d] - box.begin[d]) + at[d] - box.begin[d];
  return number;
}

void describe(hid_t made, const Hdf5Set& set, bool is_part) {
  set_text(made, "block", set.block);
  set_text(made, "unit", set.unit);
  set_text(made, "description", set.description);
  set_text(made, "index_order", "x first in these attributes; x is the last dimension of the data set");
  set_indices(made, "first_index", set.box.begin, set.box.dimensions);
  set_indices(made, "extents", set.extents, set.box.dimensions);
  if (!is_part) return;
  set_indices(made, "begin", set.box.begin, set.box.dimensions);
  set_indices(made, "end", set.box.end, set.box.dimensions);
}

void set_number(hid_t of, const char* name, std::int64_t number) {
  set_value(of, name, H5T_NATIVE_INT64, {H5Screate(H5S_SCALAR), H5Sclose}, &number);
}

// Creates the data set contiguously. Its place in the file is fixed from now on; its elements are written later.
Hdf5Object made_in(hid_t file, const Hdf5Set& set) {
  const Hdf5Object space = space_of(set.box), properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  (void)H5Pset_layout(properties.id(), H5D_CONTIGUOUS);
  (void)H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
  (void)H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
  Hdf5Object made(
      H5Dcreate2(file, set.name.c_str(), number_type(set.type), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
      H5Dclose);
  if (!made) fail("making data set '" + set.name + "'");
  return made;
}

}  // namespace

bool Hdf5Object::close() {
  if (id_ < 0) return true;
  const Turn turn;
  return close_(std::exchange(id_, -1)) >= 0;
}

bool is_hdf5_number(const std::string& type) {
  const Turn turn;
  return number_type(type) >= 0;
}

Hdf5Writer::Hdf5Writer(std::string path, std::span<const Hdf5Set> sets, std::optional<OfOne> of_one)
    : path_(std::move(path)), part_(path_ + ".part") {
  try {
    places_ = make(part_, sets, of_one);
    file_ = ::open(part_.c_str(), O_RDWR | O_CLOEXEC);
    if (file_ < 0) fail("opening the file", errno);
  } catch (...) {
    (void)::unlink(part_.c_str());
    throw;
  }
}

std::vector<Hdf5Writer::Place> Hdf5Writer::make(const std::string& path, std::span<const Hdf5Set> sets,
                                                std::optional<OfOne> of_one) {
  constexpr std::size_t kOfFile = 8192, kOfSet = 8192;  // more than the library needs besides the elements
  const Turn turn;
  try_room(path, kOfFile + kOfSet * sets.size());
  const Hdf5Object access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Enables checksums over all metadata. In older formats a flipped bit can make other bytes appear as elements.
  (void)H5Pset_libver_bounds(access.id(), kWithSums, kWithSums);
  Hdf5Object file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file) fail("making the file");
  set_text(file.id(), "writer", "perdure mesh");
  if (of_one) {
    set_number(file.id(), "rank", of_one->rank);
    set_number(file.id(), "ranks", of_one->ranks);
  }
  std::vector<Place> places;
  for (const Hdf5Set& set : sets) {
    const Hdf5Object made = made_in(file.id(), set);
    describe(made.id(), set, of_one.has_value());
    const haddr_t offset = H5Dget_offset(made.id());
    if (offset == HADDR_UNDEF && !set.box.empty()) fail("finding room for data set '" + set.name + "'");
    places.push_back({set.box, H5Tget_size(number_type(set.type)), offset});
  }
  if (!file.close()) fail("writing the file");
  return places;
}

Hdf5Writer::~Hdf5Writer() {
  if (file_ >= 0) (void)::close(file_);
  if (!published_) (void)::unlink(part_.c_str());
}

void Hdf5Writer::write(std::size_t number, const Box& box, const Hdf5Memory<const std::byte>& from) {
  if (box.empty()) return;
  const Place& to = places_[number];
  const std::size_t row = static_cast<std::size_t>(box.end[0] - box.begin[0]) * to.element_bytes;
  const std::byte* first = nullptr;
  std::size_t bytes = 0;
  std::uint64_t offset = 0;
  each_row(box, [&](const Index& at) {
    const std::byte* here = from.first + number_of(at, from.box) * static_cast<std::int64_t>(to.element_bytes);
    const std::uint64_t there = to.offset + static_cast<std::uint64_t>(number_of(at, to.box)) * to.element_bytes;
    if (here != first + bytes || there != offset + bytes) {  // else the row extends the current run
      write_bytes(first, bytes, offset);
      first = here;
      bytes = 0;
      offset = there;
    }
    bytes += row;
  });
  write_bytes(first, bytes, offset);
}

void Hdf5Writer::write_bytes(const std::byte* first, std::size_t bytes, std::uint64_t offset) const {
  while (bytes > 0) {
    const ssize_t written = ::pwrite(file_, first, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("writing the file", written < 0 ? errno : ENOSPC);
    first += written;
    bytes -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
}

void Hdf5Writer::finish() {
  if (::fsync(file_) != 0) fail("fsync", errno);
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) fail("closing the file", errno);
}

void Hdf5Writer::publish() {
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail("giving the file its name", errno);
  published_ = true;
  sync_directory_of(path_);
}

Hdf5Reader::Hdf5Reader(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) fail("opening the file", errno);
  const Turn turn;
  file_ = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!file_) fail("opening it as an HDF5 file");
}

std::optional<std::int64_t> Hdf5Reader::number(const char* name) const {
  const Turn turn;
  const auto numbers = numbers_of(file_.id(), name, 1);
  return numbers.empty() ? std::nullopt : std::optional(numbers[0]);
}

Hdf5Set Hdf5Reader::find(const std::string& name) {
  const Turn turn;
  if (H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) <= 0)
    throw std::runtime_error("it has no data set '" + name + "'");
  set_ = {H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose};
  if (!set_) fail("opening data set '" + name + "'");
  const Hdf5Object type(H5Dget_type(set_.id()), H5Tclose), space(H5Dget_space(set_.id()), H5Sclose);
  Hdf5Set found;
  found.name = name;
  found.type = type_text(type.id());
  if (!found.type.empty()) check_bytes(set_.id(), name, type.id(), space.id());
  type_ = number_type(found.type);
  const int dimensions = H5Sget_simple_extent_ndims(space.id());
  found.box.dimensions = static_cast<unsigned>(dimensions);
  Extents extents{};
  if (found.box.dimensions < 1 || found.box.dimensions > extents.size()) return found;
  (void)H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  const auto first = numbers_of(set_.id(), "first_index", found.box.dimensions);
  found.extents = numbers_of(set_.id(), "extents", found.box.dimensions);
  found.indexed = !first.empty();
  for (unsigned d = 0; d < found.box.dimensions; ++d) {
    found.box.begin[d] = found.indexed ? first[d] : 0;
    if (__builtin_add_overflow(found.box.begin[d], extents[found.box.dimensions - 1 - d], &found.box.end[d]))
      throw std::runtime_error("data set '" + name + "' has more elements than there can be");
  }
  return found;
}

void Hdf5Reader::read(const Box& box, const Box& all, const Hdf5Memory<std::byte>& to) {
  if (box.empty()) return;
  const Turn turn;
  const Hdf5Object memory = chosen(box, to.box), file = chosen(box, all);
  if (H5Dread(set_.id(), type_, memory.id(), file.id(), H5P_DEFAULT, to.first) < 0) fail("reading " + box.text());
}

}  // namespace perdure::mesh
