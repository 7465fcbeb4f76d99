#pragma once
// Writes and reads the file that a parity server has for its clients: its address, and the key of its users. A process
// that can read the file can use the server, so only its user can (docs/format/parity-server-file.md).
#include <string>
#include <vector>

#include "network/address.hpp"
#include "network/proof.hpp"

namespace perdure::parity {

struct ServerFile {
  network::Bytes address;  ///< network::Endpoint::address()
  network::JobKey key{};
  friend bool operator==(const ServerFile&, const ServerFile&) = default;
};

std::string to_text(const ServerFile& file);
/// Fails with PERDURE_CORRUPT about `path` unless the text is exactly one.
base::Result<ServerFile> parse_server_file(std::string_view text, const std::string& path);

/// Writes with mode 0600, wholly or not at all.
base::Status write_server_file(const std::string& path, const ServerFile& file);
/// PERDURE_PERMISSION if it is another user's, or others can read it.
base::Result<ServerFile> read_server_file(const std::string& path);

/// Reads all files. The servers must have one key, that of the endpoints of all their clients; PERDURE_MISMATCH
/// otherwise.
base::Result<std::vector<ServerFile>> read_server_files(const std::vector<std::string>& paths);

}  // namespace perdure::parity
