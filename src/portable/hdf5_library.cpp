#include "portable/hdf5_library.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace perdure::portable {
namespace {

using base::Result;

// Tries Debian's name of the library without MPI first. Then come others' names of that release and of later ones,
// whose functions are the same.
constexpr std::initializer_list<const char*> kLibraries = {"libhdf5_serial.so.103", "libhdf5.so.103",
                                                           "libhdf5_serial.so.310", "libhdf5.so.200", "libhdf5.so.310"};
constexpr const char* kRemedy = "install HDF5 (Debian: libhdf5-103-1)";

/// A program that is linked with the library itself may contain a copy of one of its variables. The library then uses
/// that copy, and its own says nothing.
hid_t number_at(const Hdf5Library& functions, const void* own, const char* name) {
  hid_t number = -1;
  std::memcpy(&number, own, sizeof number);
  const void* copy = functions.H5Iget_type(number) == H5I_BADID ? ::dlsym(RTLD_DEFAULT, name) : nullptr;
  if (copy != nullptr) std::memcpy(&number, copy, sizeof number);
  return number;
}

Result<Hdf5Library> load() {
  void* library = nullptr;
  const char* found = *kLibraries.begin();
  for (const char* name : kLibraries)
    if ((library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) {
      found = name;
      break;
    }
  if (library == nullptr) return base::fail(PERDURE_UNAVAILABLE, found, "the library cannot be loaded", kRemedy);
  Hdf5Library functions;
  const char* missing = nullptr;
  const auto look_up = [&](const char* name) {
    void* address = ::dlsym(library, name);
    if (address == nullptr) missing = name;
    return address;
  };
#define PERDURE_HDF5_LOAD(name) functions.name = reinterpret_cast<decltype(functions.name)>(look_up(#name));
  PERDURE_HDF5_FUNCTIONS(PERDURE_HDF5_LOAD)
#undef PERDURE_HDF5_LOAD
  if (missing != nullptr)
    return base::fail(PERDURE_UNAVAILABLE, found, std::string("the library lacks ") + missing, kRemedy);
  // At its end the library would try again to write data that a full disk refused.
  (void)functions.H5dont_atexit();
  if (functions.H5open() < 0) return base::fail(PERDURE_UNAVAILABLE, found, "the library does not start", kRemedy);
  (void)functions.H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it prints nothing: errors are values here
  // Numbers are known from here on.
#define PERDURE_HDF5_LOAD(name) \
  if (const void* address = look_up(#name)) functions.name = number_at(functions, address, #name);
  PERDURE_HDF5_NUMBERS(PERDURE_HDF5_LOAD)
#undef PERDURE_HDF5_LOAD
  if (missing != nullptr)
    return base::fail(PERDURE_UNAVAILABLE, found, std::string("the library lacks ") + missing, kRemedy);
  return functions;
}

/// The result of a walk through the library's errors: the innermost one, and the system's error number.
struct ErrorText {
  std::string text;
  int error_number = 0;
};

herr_t look(unsigned /*n*/, const H5E_error2_t* error, void* data) {
  auto& found = *static_cast<ErrorText*>(data);
  if (error->desc == nullptr) return 0;
  base::attempt([&] { found.text = error->desc; });  // no exception may pass functions of C
  if (const char* number = std::strstr(error->desc, "errno = ")) found.error_number = std::atoi(number + 8);
  return 0;
}

}  // namespace

base::Error Hdf5Library::error(const std::string& call, const std::string& object) const {
  ErrorText found;
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, &look, &found);
  (void)H5Eclear2(H5E_DEFAULT);
  if (found.error_number > 0) {
    auto error = base::errno_error(found.error_number, call, object);
    if (found.error_number == EFBIG) error.code = PERDURE_NO_SPACE;  // os::File uses this code for the limit
    return error;
  }
  return {
      PERDURE_IO, object, call + " failed" + (found.text.empty() ? "" : ": " + found.text.substr(0, 200)), {}, false};
}

Result<const Hdf5Library*> load_hdf5_library() {
  static const Result<Hdf5Library> library = load();
  if (!library) return base::fail(library.error());
  return &*library;
}

}  // namespace perdure::portable
