#pragma once
// A store whose writes take as long as an emulated device says; the real store behind it still gets every byte.
#include "device/emulator.hpp"
#include "store/store.hpp"

namespace perdure::store {

/// Every write() of a segment is one transfer of `device`, begun before the real write. What is read, listed or removed
/// is not slowed down.
std::unique_ptr<Store> emulate(std::unique_ptr<Store> real, std::shared_ptr<device::Emulator> device);

}  // namespace perdure::store
