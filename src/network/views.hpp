#pragma once
// Memory of peers on the same host, mapped read-only from the file that it also is.
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "network/remote_memory.hpp"
#include "os/memory_map.hpp"

namespace perdure::network {

/// Peers' bytes, readable as long as this lives, whatever becomes of the peer. Their content is the peer's to change:
/// compare hashes.
class View {
 public:
  View(std::shared_ptr<const os::Mapping> mapping, ConstByteSpan bytes) : mapping_(std::move(mapping)), bytes_(bytes) {}
  ConstByteSpan bytes() const { return bytes_; }

 private:
  std::shared_ptr<const os::Mapping> mapping_;
  ConstByteSpan bytes_;
};

/// The file and host that `hint` is about. Fails when the file is shorter than what is exposed.
base::Result<LocalFile> describe_file(const FileHint& hint, std::uint64_t bytes);

/// Mappings by peer and key; a few hundred at most, those used last. Thread-safe.
class Views {
 public:
  /// Nothing when the memory is on another host, another user's, not a file, or cannot be mapped.
  std::optional<View> find(std::uint64_t peer, const RemoteMemory& memory);
  void forget(std::uint64_t peer);
  void forget(std::uint64_t peer, std::uint64_t key);
  std::size_t size() const;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Entry {
    RemoteMemory memory;
    std::optional<View> view;  ///< nothing: it was tried in vain
    std::list<Key>::iterator used;
  };
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::list<Key> by_use_;  // first: used last
  std::string host_;
};

}  // namespace perdure::network
