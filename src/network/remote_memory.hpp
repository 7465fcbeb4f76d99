#pragma once
// Names memory of an engine for its peers, and encodes the name for requests and replies.
#include <optional>
#include <string>

#include "network/wire.hpp"

namespace perdure::network {

/// The file that exposed memory also is, for peers on the same host. Rule: such a file is never truncated while it is
/// exposed, or a reader that mapped it dies of SIGBUS. It may be removed.
struct FileHint {
  std::string path;
  std::uint64_t offset = 0;  ///< of the memory's first byte
  friend bool operator==(const FileHint&, const FileHint&) = default;
  PERDURE_FIELDS(path, offset)
  std::string wrong() const { return path.size() <= 4096 ? "" : "field 'path' has more than 4096 bytes"; }
};

/// Identifies the file: the same path may be another file in another container of the same host.
struct LocalFile {
  FileHint hint;
  std::string host;  ///< os::host_identity()
  std::uint32_t user = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const LocalFile&, const LocalFile&) = default;
  PERDURE_FIELDS(hint, host, user, device, inode)
  std::string wrong() const { return host.size() <= 512 ? "" : "field 'host' has more than 512 bytes"; }
};

struct RemoteMemory {
  WireMemory wire;
  Access access = Access::read;
  std::optional<LocalFile> file;
  friend bool operator==(const RemoteMemory&, const RemoteMemory&) = default;
  PERDURE_FIELDS(wire, access, file)
};

Bytes encode(const RemoteMemory& memory);
/// Fails with PERDURE_CORRUPT unless the bytes are exactly one name.
base::Result<RemoteMemory> decode_remote_memory(ConstByteSpan bytes);

}  // namespace perdure::network
