#pragma once
// An emulated store's writes take as long as its device description says; the real store behind it still gets every
// byte.
#include "device/emulator.hpp"
#include "store/store.hpp"

namespace perdure::store {

/// Makes the store. Every write() of a segment is one transfer of `device`, begun before the real write. Reads,
/// listings and removals are not slowed down.
std::unique_ptr<Store> emulate(std::unique_ptr<Store> real, std::shared_ptr<device::Emulator> device);

}  // namespace perdure::store
