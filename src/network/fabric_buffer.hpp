#pragma once
// Allocates memory that the provider may touch, registered if the provider requires it. Private to the fabric wire.
#include "network/fabric_resources.hpp"

namespace perdure::network {

class FabricBuffer : public WireBuffer {
 public:
  FabricBuffer(FidPointer<fid_mr> registration, Bytes memory)
      : memory_(std::move(memory)), registration_(std::move(registration)) {}
  static base::Result<WireBufferPointer> make(const FabricResources& fabric, std::size_t bytes);
  ByteSpan span() override { return memory_; }
  void* descriptor() const { return registration_ == nullptr ? nullptr : ::fi_mr_desc(registration_.get()); }

 private:
  Bytes memory_;
  FidPointer<fid_mr> registration_;
};

}  // namespace perdure::network
