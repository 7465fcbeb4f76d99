#pragma once
// Loads libfabric when the first fabric wire is made: applications without redundancy load nothing more than before.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "base/result.hpp"

namespace perdure::network {

/// The functions that are not inline in the headers.
struct FabricLibrary {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_version) version = nullptr;
};

/// Loads the library, which stays loaded. PERDURE_UNAVAILABLE if it is not installed. Thread-safe.
base::Result<const FabricLibrary*> load_fabric_library();

/// Describes the failure of a libfabric call that returned `code` (negative).
base::Error fabric_error(const FabricLibrary& library, long code, const std::string& call, const std::string& object);

}  // namespace perdure::network
