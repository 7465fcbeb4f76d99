#pragma once
// Picks one error that all ranks report.
#include "comm/communicator.hpp"

namespace perdure::client {

/// [collective] Gives the error of the rank whose two words are least, lexicographically. Success when the first word
/// is ~0 on all ranks: no rank found an error.
base::Status first_error(comm::Communicator& comm, const base::Error& mine, std::uint64_t first, std::uint64_t second);

}  // namespace perdure::client
