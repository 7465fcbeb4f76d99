#include "network/fabric_library.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <cerrno>

namespace perdure::network {
namespace {

constexpr const char* kLibrary = "libfabric.so.1";

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

/// Restores signal actions. The provider of libfabric for shared memory installs its own when the library is loaded. A
/// SIGTERM would then end the program before Perdure or the program hears of it.
class KeptSignalActions {
 public:
  KeptSignalActions() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) kept_[i] = ::sigaction(kSignals[i], nullptr, &before_[i]) == 0;
  }
  KeptSignalActions(const KeptSignalActions&) = delete;
  KeptSignalActions& operator=(const KeptSignalActions&) = delete;
  ~KeptSignalActions() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      if (kept_[i]) (void)::sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGBUS, SIGSEGV};
  std::array<bool, kSignals.size()> kept_{};
  std::array<struct sigaction, kSignals.size()> before_{};
};

base::Result<FabricLibrary> load() {
  const KeptSignalActions kept;
  const char* remedy = "install libfabric (Debian: libfabric1), or choose a redundancy scheme that needs no network";
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return base::fail(PERDURE_UNAVAILABLE, kLibrary, why != nullptr ? why : "it cannot be loaded", remedy);
  }
  FabricLibrary functions;
  if (!look_up(library, "fi_getinfo", functions.getinfo) || !look_up(library, "fi_freeinfo", functions.freeinfo) ||
      !look_up(library, "fi_dupinfo", functions.dupinfo) || !look_up(library, "fi_fabric", functions.fabric) ||
      !look_up(library, "fi_strerror", functions.strerror) || !look_up(library, "fi_version", functions.version))
    return base::fail(PERDURE_UNAVAILABLE, kLibrary, "it lacks functions that every libfabric has", remedy);
  return functions;
}

}  // namespace

base::Result<const FabricLibrary*> load_fabric_library() {
  static const base::Result<FabricLibrary> library = load();
  if (!library) return base::fail(library.error());
  return &*library;
}

base::Error fabric_error(const FabricLibrary& library, long code, const std::string& call, const std::string& object) {
  const int number = static_cast<int>(code < 0 ? -code : code);
  // Below FI_ERRNO_OFFSET the numbers are those of errno.
  if (number < FI_ERRNO_OFFSET) return base::errno_error(number, call, object);
  return {PERDURE_IO, object, call + ": " + library.strerror(number), {}, false};
}

}  // namespace perdure::network
