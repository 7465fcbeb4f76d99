#pragma once
// One of every message between ranks and engines, for tests and fuzz targets.
#include <vector>

#include "base/json.hpp"
#include "ipc/address_codec.hpp"
#include "ipc/messages.hpp"
#include "support/sample_segment.hpp"

namespace perdure::test_support {

inline std::vector<ipc::Request> sample_requests() {
  const segment::VersionId id{"nbody", 7, {1000, 0xfedcba9876543210ULL}};
  return {ipc::Hello{ipc::kProtocol, "0123456789abcdef", 3, true, false},
          ipc::Reserve{{4096, 1ULL << 40}},
          ipc::Begin{id, 4, sample_piece(id, 3, 9000, 4096), {{0, 2, {3}}}},
          ipc::Grant{id, 5000, 17, {0, 1}, "no space in the first two tiers"},
          ipc::GiveBack{id, 1, 9},
          ipc::Written{id, 3, 2, 1, 9, 4096, base::hash128(std::vector<std::byte>(7)), true},
          ipc::Stage{id, 4, sample_piece(id, 3, 9000, 4096)},
          ipc::Step{1'500'000'000},
          ipc::Commit{id, {{0, 2, {0, 1}}, {1, 2, {}}}},
          ipc::Commit{id, {}, true},
          ipc::Abort{id},
          ipc::Inventory{"nbody", true},
          ipc::Locate{id, 3},
          ipc::Unpin{},
          ipc::Quarantine{id, 3, 1, "its hash is wrong"},
          ipc::WaitStored{id, 1'000'000'000},
          ipc::WaitProtected{id, 5},
          ipc::OpenNetwork{std::vector<std::byte>(32)},
          ipc::Join{77, 2, 1, {std::vector<std::byte>(9), std::vector<std::byte>(8)}, {4, 5}, {"host#0", "host#1"}},
          ipc::Lend{id},
          ipc::Recover{id, 4, {1, 3}, {std::vector<std::byte>(9), std::vector<std::byte>(8)}},
          ipc::Protect{id},
          ipc::NewestProtected{"nbody"},
          ipc::Superseded{"nbody", 17},
          ipc::AllStored{4},
          ipc::Note{"there is one node only"},
          ipc::Progress{},
          ipc::Top{},
          ipc::Metrics{},
          ipc::Restored{4096, 1ULL << 40},
          ipc::NextReport{},
          ipc::Retire{"nbody", 7},
          ipc::Drain{5},
          ipc::Shutdown{}};
}

inline ipc::HeldSummary sample_summary() {
  return {{"nbody", 7, {1000, 1}}, 4, {0, 2}, true, false, {1}, {{0, 2, {0, 1, 2}}}};
}

inline ipc::KeptSummary sample_kept() {
  return {{"nbody", 7, {1000, 1}}, 4, 99, 1, "xor", 1, 1, {{{0, 2}}, {{1, 2}, {2, 3}}, {{3, 1}}}, {5}};
}

inline ipc::WireAddress sample_address() { return {1, 5, "/dev/shm/perdure-0/arena", 2ULL << 20, 4096, true}; }

/// Requests, and what replies are made of.
inline std::vector<base::Json> sample_messages() {
  std::vector<base::Json> list;
  for (const auto& request : sample_requests()) list.push_back(ipc::to_json(request));
  list.push_back(ipc::to_json(sample_summary()));
  list.push_back(ipc::to_json(sample_kept()));
  list.push_back(ipc::to_json(sample_address()));
  list.push_back(ipc::error_reply({PERDURE_NO_SPACE, "tier memory", "it is full", "make room", true}));
  list.push_back({{"ok", true}, {"slot", ipc::to_json(sample_address())}});
  return list;
}

}  // namespace perdure::test_support
