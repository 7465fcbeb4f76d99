#pragma once
// This rank's connection with the engine of its node, and what it needs for moving bytes to and from the slots there.
#include <string>
#include <vector>

#include "client/slot_prefaulter.hpp"
#include "ipc/channel.hpp"
#include "tier/slot_io.hpp"

namespace perdure::client {

/// One thread at a time, but for slots().
class NodeEngine {
 public:
  /// Before connect(): where memory is backed ahead of a capture, and whether it is.
  void prefault_on(const os::CpuSet& cpus) { prefaulter_.run_on(cpus); }
  void set_prefault(bool on) { prefault_ = on; }
  /// Before connect(): captures with parts of arrays have shorter chunks than others.
  void set_short_parts(bool on) { short_parts_ = on; }

  SlotPrefaulter& prefaulter() { return prefaulter_; }

  /// Greets the engine, and tells it what the next capture needs.
  base::Status connect(const std::string& socket, const ipc::Hello& hello);
  /// Forgets the engine and its slots; what the next capture needs stays known.
  void disconnect();
  bool connected() const { return channel_.connected(); }
  /// Not connected, or the engine has closed its end; costs one system call.
  bool gone() { return channel_.engine_gone(); }

  ipc::Channel& channel() { return channel_; }
  tier::SlotIo& slots() { return slots_; }
  /// The longest that a chunk may be.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  /// How long chunks are of a capture of so many bytes.
  /// `most`: as in capture::Manner.
  std::uint64_t chunk_bytes_of(std::uint64_t capture_bytes, bool has_parts, std::uint64_t most = 0) const;
  bool paced() const { return paced_; }
  const std::string& directory() const { return directory_; }

  /// This rank's next capture. The engine is told by the next announce(), or when it is another one.
  void expect(std::uint64_t capture_bytes, bool has_parts, std::uint64_t most = 0) {
    expected_ = {capture_bytes, has_parts, most};
  }
  /// Tells the engine the sizes of the chunks that are expected, where they changed.
  base::Status announce();
  /// A version that all ranks have agreed on exists. Nobody waits for the engine's answer: take_commit() does.
  base::Status post_commit(const ipc::Commit& commit);
  /// What the engine said to it, if that was not taken yet. Whatever follows on the channel finds it committed.
  base::Status take_commit();
  /// What this node holds of the name; of all names when it is empty.
  base::Result<std::vector<ipc::HeldSummary>> inventory(const std::string& name);

 private:
  ipc::Channel channel_;
  std::string directory_;  // of the engine
  std::uint64_t chunk_bytes_ = 0;
  bool paced_ = false;  // the engine emulates tiers: it says when a chunk is written
  bool prefault_ = false;
  bool short_parts_ = false;
  tier::SlotIo slots_;
  SlotPrefaulter prefaulter_{slots_};
  struct Expected {
    std::uint64_t bytes = 0;
    bool has_parts = false;  // of arrays
    std::uint64_t most = 0;  // bytes of a chunk; 0: as many as any may have
  };
  Expected expected_;                     // the next capture
  std::vector<std::uint64_t> announced_;  // sizes of chunks
  struct Committing {
    std::string version = {};
    ipc::Posted<ipc::Done> posted = {};
  };
  Committing committing_;
};

}  // namespace perdure::client
