#pragma once
// This rank's connection with the engine of its node moves bytes to and from the slots there.
#include <string>
#include <vector>

#include "client/slot_prefaulter.hpp"
#include "ipc/channel.hpp"
#include "tier/slot_io.hpp"

namespace perdure::client {

/// Use it from one thread at a time, except slots().
class NodeEngine {
 public:
  /// Says on which processors memory is backed ahead of a capture; before connect().
  void prefault_on(const os::CpuSet& cpus) { prefaulter_.run_on(cpus); }
  void set_prefault(bool on) { prefault_ = on; }
  /// Says whether captures with parts of arrays have shorter chunks than others; before connect().
  void set_short_parts(bool on) { short_parts_ = on; }

  SlotPrefaulter& prefaulter() { return prefaulter_; }

  /// Greets the engine, and tells it the needs of the next capture.
  base::Status connect(const std::string& socket, const ipc::Hello& hello);
  /// Forgets the engine and its slots; the needs of the next capture stay known.
  void disconnect();
  bool connected() const { return channel_.connected(); }
  /// Tells whether it is not connected, or the engine has closed its end; costs one system call.
  bool gone() { return channel_.engine_gone(); }

  ipc::Channel& channel() { return channel_; }
  tier::SlotIo& slots() { return slots_; }
  /// The greatest length of a chunk.
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  /// Gives the length of the chunks of a capture of so many bytes. `most`: as in capture::Manner.
  std::uint64_t chunk_bytes_of(std::uint64_t capture_bytes, bool has_parts, std::uint64_t most = 0) const;
  bool paced() const { return paced_; }
  const std::string& directory() const { return directory_; }

  /// Notes this rank's next capture. The next announce(), or the next connect(), tells the engine.
  void expect(std::uint64_t capture_bytes, bool has_parts, std::uint64_t most = 0) {
    expected_ = {capture_bytes, has_parts, most};
  }
  /// Tells the engine the sizes of the expected chunks, if they changed.
  base::Status announce();
  /// Tells the engine that a version that all ranks have agreed on exists. No rank waits for the answer: take_commit()
  /// does.
  base::Status post_commit(const ipc::Commit& commit);
  /// Takes the engine's answer to that, if it was not taken yet. Later messages on the channel find the version
  /// committed.
  base::Status take_commit();
  /// Gives this node's holdings of the name; empty: of all names.
  base::Result<std::vector<ipc::HeldSummary>> inventory(const std::string& name);

 private:
  ipc::Channel channel_;
  std::string directory_;  // directory of the engine
  std::uint64_t chunk_bytes_ = 0;
  bool paced_ = false;  // the engine emulates tiers: it says when a chunk is written
  bool prefault_ = false;
  bool short_parts_ = false;
  tier::SlotIo slots_;
  SlotPrefaulter prefaulter_{slots_};
  struct Expected {
    std::uint64_t bytes = 0;
    bool has_parts = false;  // it has parts of arrays
    std::uint64_t most = 0;  // most bytes of a chunk; 0: the greatest length
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
