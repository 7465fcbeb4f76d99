#include "network/fabric_resources.hpp"

#include <cstdlib>
#include <cstring>

#include "os/interfaces.hpp"

namespace perdure::network {
namespace {

constexpr std::uint32_t kApi = FI_VERSION(1, 11);
constexpr std::uint64_t kCapabilities = FI_MSG | FI_RMA;

/// Describes the wanted endpoint. Threads: many send while one makes progress. Memory: we meet any of the provider's
/// requirements.
std::unique_ptr<fi_info, FreeInfo> make_hints(const FabricLibrary& library, const FabricOptions& options) {
  std::unique_ptr<fi_info, FreeInfo> hints(library.dupinfo(nullptr), {&library});
  if (hints == nullptr) return hints;
  hints->caps = kCapabilities;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->fabric_attr->prov_name = ::strdup(options.provider.c_str());  // freed with the hints
  return hints;
}

std::string interfaces_here() {
  std::string text;
  for (const auto& one : os::interfaces()) text += (text.empty() ? "" : ", ") + one.name + " " + one.address;
  return text.empty() ? "none" : text;
}

base::Error not_found(const FabricOptions& options, const std::string& object) {
  const std::string list = "fi_info -l lists those that are there; 'tcp' works on every network";
  if (options.bind_address.empty())
    return {PERDURE_UNAVAILABLE, object, "libfabric has none of this name that works here", list, false};
  return {PERDURE_UNAVAILABLE, object, "libfabric has none of this name that works at " + options.bind_address,
          list + "; interfaces of this node: " + interfaces_here(), false};
}

base::Status find_provider(const FabricOptions& options, FabricResources& all) {
  const std::string object = "network provider '" + options.provider + "'";
  const auto hints = make_hints(*all.library, options);
  if (hints == nullptr) return base::fail(base::errno_error(ENOMEM, "fi_dupinfo", object));
  // The name of an interface is the same on all nodes, its address is not.
  const std::string at = os::address_of_interface(options.bind_address).value_or(options.bind_address);
  fi_info* found = nullptr;
  const int code = all.library->getinfo(kApi, at.empty() ? nullptr : at.c_str(), nullptr, at.empty() ? 0 : FI_SOURCE,
                                        hints.get(), &found);
  if (code == -FI_ENODATA || (code == 0 && found == nullptr)) return base::fail(not_found(options, object));
  if (code != 0) return base::fail(fabric_error(*all.library, code, "fi_getinfo", object));
  all.info = {found, {all.library}};
  return {};
}

/// Opens one object with a call that fills `raw`.
template <class Object, class Open>
base::Status open_one(const FabricResources& all, const char* call, FidPointer<Object>& target, const Open& open) {
  Object* raw = nullptr;
  if (const long code = open(&raw); code != 0)
    return base::fail(fabric_error(*all.library, code, call, all.info->fabric_attr->prov_name));
  target.reset(raw);
  return {};
}

base::Status check(const FabricResources& all, const char* call, long code) {
  if (code == 0) return {};
  return base::fail(fabric_error(*all.library, code, call, all.info->fabric_attr->prov_name));
}

base::Result<Bytes> address_of(const FabricResources& all) {
  Bytes bytes(kMaxWireAddress);
  std::size_t size = bytes.size();
  PERDURE_CHECK(check(all, "fi_getname", ::fi_getname(&all.endpoint->fid, bytes.data(), &size)));
  bytes.resize(size);
  return bytes;
}

}  // namespace

base::Result<FabricResources> open_fabric(const FabricOptions& options) {
  FabricResources all;
  PERDURE_TRY(all.library, load_fabric_library());
  PERDURE_CHECK(find_provider(options, all));
  fi_info* info = all.info.get();
  PERDURE_CHECK(open_one(all, "fi_fabric", all.fabric,
                         [&](fid_fabric** raw) { return all.library->fabric(info->fabric_attr, raw, nullptr); }));
  PERDURE_CHECK(open_one(all, "fi_domain", all.domain,
                         [&](fid_domain** raw) { return ::fi_domain(all.fabric.get(), info, raw, nullptr); }));
  fi_av_attr av{};
  av.type = FI_AV_UNSPEC;
  PERDURE_CHECK(open_one(all, "fi_av_open", all.addresses,
                         [&](fid_av** raw) { return ::fi_av_open(all.domain.get(), &av, raw, nullptr); }));
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_MSG;
  cq.wait_obj = FI_WAIT_FD;
  PERDURE_CHECK(open_one(all, "fi_cq_open", all.completions,
                         [&](fid_cq** raw) { return ::fi_cq_open(all.domain.get(), &cq, raw, nullptr); }));
  PERDURE_CHECK(open_one(all, "fi_endpoint", all.endpoint,
                         [&](fid_ep** raw) { return ::fi_endpoint(all.domain.get(), info, raw, nullptr); }));
  PERDURE_CHECK(check(all, "fi_ep_bind", ::fi_ep_bind(all.endpoint.get(), &all.addresses->fid, 0)));
  PERDURE_CHECK(
      check(all, "fi_ep_bind", ::fi_ep_bind(all.endpoint.get(), &all.completions->fid, FI_TRANSMIT | FI_RECV)));
  PERDURE_CHECK(check(all, "fi_enable", ::fi_enable(all.endpoint.get())));
  PERDURE_CHECK(check(all, "fi_control", ::fi_control(&all.completions->fid, FI_GETWAIT, &all.wait_fd)));
  PERDURE_TRY(all.address, address_of(all));
  return all;
}

}  // namespace perdure::network
