#pragma once
// Maps memory of peers on the same host read-only, from the file that it also is.
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "network/remote_memory.hpp"
#include "os/memory_map.hpp"

namespace perdure::network {

/// A peer's bytes, readable as long as this lives, even after the peer's end. The peer may change them: compare hashes.
class View {
 public:
  View(std::shared_ptr<const os::Mapping> mapping, ConstByteSpan bytes) : mapping_(std::move(mapping)), bytes_(bytes) {}
  ConstByteSpan bytes() const { return bytes_; }

 private:
  std::shared_ptr<const os::Mapping> mapping_;
  ConstByteSpan bytes_;
};

/// Identifies the file and host of `hint`. Fails if the file is shorter than the exposed memory.
base::Result<LocalFile> describe_file(const FileHint& hint, std::uint64_t bytes);

/// Mappings by peer and key; at most a few hundred, the last used ones. Thread-safe.
class Views {
 public:
  /// Returns nothing if the memory is on another host, another user's, not a file, or cannot be mapped.
  std::optional<View> find(std::uint64_t peer, const RemoteMemory& memory);
  void forget(std::uint64_t peer);
  void forget(std::uint64_t peer, std::uint64_t key);
  std::size_t size() const;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Entry {
    RemoteMemory memory;
    std::optional<View> view;  ///< nothing: mapping failed
    std::list<Key>::iterator used;
  };
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::list<Key> by_use_;  // most recently used first
  std::string host_;
};

}  // namespace perdure::network
