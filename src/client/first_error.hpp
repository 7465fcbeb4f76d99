#pragma once
// Of what ranks found wrong, the same on all of them.
#include "comm/communicator.hpp"

namespace perdure::client {

/// [collective] The error of the rank whose two words are least, lexicographically; success when the first word is
/// ~0 on all ranks: nobody found anything.
base::Status first_error(comm::Communicator& comm, const base::Error& mine, std::uint64_t first, std::uint64_t second);

}  // namespace perdure::client
