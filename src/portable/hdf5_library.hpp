#pragma once
// Loads libhdf5 when the first HDF5 file is written or read: Debian's brings 30 more shared libraries (curl, Kerberos,
// OpenSSL) that no other verb needs. Use it inside this module only.
#include <hdf5.h>

#include <string>

#include "base/result.hpp"

namespace perdure::portable {

// clang-format off
/// Functions of the library by their names there.
#define PERDURE_HDF5_FUNCTIONS(X) \
  X(H5open) X(H5dont_atexit) X(H5free_memory) X(H5Eset_auto2) X(H5Ewalk2) X(H5Eclear2) X(H5Fcreate) X(H5Fopen) \
  X(H5Fflush) X(H5Fclose) X(H5Gcreate2) X(H5Gopen2) X(H5Gclose) X(H5Gget_info) X(H5Lexists) \
  X(H5Lget_name_by_idx) X(H5Oopen) X(H5Oclose) X(H5Iget_type) X(H5Screate) X(H5Screate_simple) X(H5Sclose) \
  X(H5Sselect_hyperslab) X(H5Sget_simple_extent_ndims) X(H5Sget_simple_extent_dims) \
  X(H5Sget_simple_extent_type) X(H5Dcreate2) X(H5Dopen2) X(H5Dclose) X(H5Dwrite) X(H5Dread) X(H5Dget_space) \
  X(H5Dget_type) X(H5Tcreate) X(H5Tcopy) X(H5Tclose) X(H5Tinsert) X(H5Tarray_create2) X(H5Tenum_create) \
  X(H5Tenum_insert) X(H5Tset_tag) X(H5Tset_size) X(H5Tset_strpad) X(H5Tset_cset) X(H5Tequal) X(H5Tget_class) \
  X(H5Tget_size) X(H5Tget_sign) X(H5Tget_nmembers) X(H5Tget_member_name) X(H5Tget_member_type) \
  X(H5Tget_member_offset) X(H5Tget_super) X(H5Tget_array_ndims) X(H5Tget_array_dims2) X(H5Tis_variable_str) \
  X(H5Pcreate) X(H5Pclose) X(H5Pset_chunk) X(H5Pset_fill_time) X(H5Acreate2) X(H5Awrite) X(H5Aclose) \
  X(H5Aexists) X(H5Aopen) X(H5Aread) X(H5Aget_type) X(H5Aget_space)
/// Numbers that the library gives its own types and classes of properties.
#define PERDURE_HDF5_NUMBERS(X) \
  X(H5T_STD_I8LE_g) X(H5T_STD_I16LE_g) X(H5T_STD_I32LE_g) X(H5T_STD_I64LE_g) X(H5T_STD_U8LE_g) \
  X(H5T_STD_U16LE_g) X(H5T_STD_U32LE_g) X(H5T_STD_U64LE_g) X(H5T_IEEE_F32LE_g) X(H5T_IEEE_F64LE_g) \
  X(H5T_C_S1_g) X(H5P_CLS_DATASET_CREATE_ID_g)
// clang-format on

struct Hdf5Library {
#define PERDURE_HDF5_MEMBER(name) decltype(&::name) name = nullptr;
  PERDURE_HDF5_FUNCTIONS(PERDURE_HDF5_MEMBER)
#undef PERDURE_HDF5_MEMBER
#define PERDURE_HDF5_MEMBER(name) hid_t name = -1;
  PERDURE_HDF5_NUMBERS(PERDURE_HDF5_MEMBER)
#undef PERDURE_HDF5_MEMBER

  /// Makes the error of the call that failed last in this thread, with the system's reason if the library tells it.
  base::Error error(const std::string& call, const std::string& object) const;
};

/// Loads the library, which stays loaded. PERDURE_UNAVAILABLE when it is not installed. Thread-safe; the library is
/// not: one thread at a time.
base::Result<const Hdf5Library*> load_hdf5_library();

/// An object of the library, which this closes at its end.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id() = default;
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(other.release()), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Id() { (void)reset(); }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Closes it; false when that failed.
  bool reset() { return id_ < 0 || close_(release()) >= 0; }

 private:
  hid_t release() { return std::exchange(id_, -1); }
  hid_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace perdure::portable
