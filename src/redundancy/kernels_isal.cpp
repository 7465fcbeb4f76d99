#include <dlfcn.h>
#include <isa-l/erasure_code.h>

#include <string>

#include "redundancy/kernels.hpp"

namespace perdure::redundancy {
namespace {

// The name of its binary interface. A later library of this name may arrange tables in its own way, but prepares and
// reads them itself.
constexpr const char* kLibrary = "libisal.so.2";

struct Isal {
  decltype(&ec_init_tables) init_tables = nullptr;
  decltype(&ec_encode_data) encode_data = nullptr;
  decltype(&ec_encode_data_update) encode_data_update = nullptr;
};

base::Result<Isal> load_isal() {
  const auto missing = [] {
    const char* why = ::dlerror();
    return base::fail(PERDURE_UNSUPPORTED, kLibrary, why == nullptr ? "cannot be loaded" : why,
                      "install ISA-L (Debian: libisal2) to compute parities at the speed of memory");
  };
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return missing();
  Isal isal;
  isal.init_tables = reinterpret_cast<decltype(&ec_init_tables)>(::dlsym(library, "ec_init_tables"));
  isal.encode_data = reinterpret_cast<decltype(&ec_encode_data)>(::dlsym(library, "ec_encode_data"));
  isal.encode_data_update =
      reinterpret_cast<decltype(&ec_encode_data_update)>(::dlsym(library, "ec_encode_data_update"));
  if (isal.init_tables == nullptr || isal.encode_data == nullptr || isal.encode_data_update == nullptr)
    return missing();
  return isal;
}

// Never destroyed: engines work until the process ends.
const base::Result<Isal>& isal() {
  static const auto& kIsal = *new base::Result<Isal>(load_isal());
  return kIsal;
}

// ISA-L's interface has no const: this cast also applies to buffers that it only reads.
unsigned char* symbols(const Symbol* address) { return const_cast<Symbol*>(address); }
unsigned char* symbols(const std::byte* address) {
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(address));
}
unsigned char** arrays(const std::byte* const* addresses) {
  return const_cast<unsigned char**>(reinterpret_cast<const unsigned char* const*>(addresses));
}

void prepare_isal(unsigned columns, unsigned rows, const Symbol* coefficients, Symbol* tables) {
  isal()->init_tables(static_cast<int>(columns), static_cast<int>(rows), symbols(coefficients), tables);
}

void combine_isal(std::size_t bytes, unsigned columns, unsigned rows, const Symbol* tables,
                  const std::byte* const* sources, std::byte* const* targets) {
  isal()->encode_data(static_cast<int>(bytes), static_cast<int>(columns), static_cast<int>(rows), symbols(tables),
                      arrays(sources), arrays(targets));
}

void add_isal(std::size_t bytes, unsigned rows, const Symbol* tables, const std::byte* source,
              std::byte* const* targets) {
  isal()->encode_data_update(static_cast<int>(bytes), 1, static_cast<int>(rows), 0, symbols(tables), symbols(source),
                             arrays(targets));
}

}  // namespace

base::Result<const Kernels*> isal_kernels() {
  static constexpr Kernels kIsalKernels{"isa-l", prepare_isal, combine_isal, add_isal};
  if (!isal()) return base::fail(isal().error());
  return &kIsalKernels;
}

const Kernels& fastest_kernels() {
  static const Kernels& kFastest = isal_kernels() ? **isal_kernels() : plain_kernels();
  return kFastest;
}

}  // namespace perdure::redundancy
