#pragma once
// Owns the fabric wire's libfabric objects, and closes them in reverse order. Private to the wire.
#include <memory>

#include "network/fabric_library.hpp"
#include "network/wire.hpp"

namespace perdure::network {

struct CloseFid {
  template <class Object>
  void operator()(Object* object) const {
    ::fi_close(&object->fid);
  }
};
template <class Object>
using FidPointer = std::unique_ptr<Object, CloseFid>;

struct FreeInfo {
  const FabricLibrary* library = nullptr;
  void operator()(fi_info* info) const { library->freeinfo(info); }
};

struct FabricResources {
  const FabricLibrary* library = nullptr;
  std::unique_ptr<fi_info, FreeInfo> info;
  FidPointer<fid_fabric> fabric;
  FidPointer<fid_domain> domain;
  FidPointer<fid_av> addresses;
  FidPointer<fid_cq> completions;
  FidPointer<fid_ep> endpoint;
  int wait_fd = -1;  ///< belongs to `completions`
  Bytes address;     ///< of this end

  bool needs_local_registration() const { return (info->domain_attr->mr_mode & FI_MR_LOCAL) != 0; }
  bool names_virtual_addresses() const { return (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0; }
};

/// Opens and enables a reliable-datagram endpoint with one completion queue that can be waited for.
base::Result<FabricResources> open_fabric(const FabricOptions& options);

}  // namespace perdure::network
