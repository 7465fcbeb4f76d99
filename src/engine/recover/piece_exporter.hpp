#pragma once
// Exports this node's parts of a version to recovering engines that ask for them (docs/adr/0020).
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/guarded.hpp"
#include "engine/ledger/ledger.hpp"
#include "engine/recover/export_messages.hpp"
#include "engine/recover/exported_pieces.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// Returns the name by which other nodes read the content of a slot of this node.
using PlaceSlot = std::function<base::Result<BlockPlace>(const tier::SlotAddress&)>;

/// Returns this node's parts that are asked for, with the places where they can be read. A caller that needs them for
/// longer has to pin the version.
ExportedPieces export_pieces(Ledger& ledger, const ExportQuestion& question, const PlaceSlot& place);

/// Reads these exported blocks of the version from their slots. Damaged ones are not used any more, and are reported.
base::Status judge(Ledger& ledger, const segment::VersionId& id, const ExportedPieces& exported,
                   const std::vector<BlockPlace>& suspects);

struct ExporterContext {
  std::vector<std::byte> address;                 ///< of this node's endpoint
  PlaceSlot place;                                ///< may take a while
  std::function<bool(std::uint64_t peer)> there;  ///< whether the peer is still connected
  std::function<void()> changed;                  ///< pins were released; called without any lock
};

/// An exported version stays pinned until the asker ends its recovery, or is lost. Messages are answered at once. Slots
/// are mapped by a thread of its own, which begins with the first question. Thread-safe.
class PieceExporter {
 public:
  PieceExporter(Ledger& ledger, ExporterContext context) : ledger_(ledger), context_(std::move(context)) {}
  ~PieceExporter() { stop(); }
  /// The version is pinned when this returns for the first time. Fails with PERDURE_CLOSED for a recovery that is over,
  /// and with PERDURE_BUSY for a peer with too many recoveries. Fails with PERDURE_CORRUPT for a contradiction to
  /// earlier questions. Fails with PERDURE_PEER_FAILED (retryable) for the rest of an answer whose beginning is
  /// forgotten.
  base::Result<ExportAnswer> answer(std::uint64_t peer, const ExportQuestion& question);
  /// The thread checks the suspects afterwards.
  void end(std::uint64_t peer, std::uint64_t recovery, const std::vector<BlockPlace>& suspects = {});
  void lost(std::uint64_t peer);
  /// Another launch begins, so no recovery needs anything any more.
  void end_all();
  /// Like end_all(), and exports nothing from now on. Does not wait for the thread.
  void close();
  /// Like close(), and returns when the thread has ended, too.
  void stop();

  static constexpr std::size_t kPartBytes = 4U << 20;  ///< limit for one part of an answer
  static constexpr std::size_t kMostOfAPeer = 64;      ///< recoveries of a peer at a time
  static constexpr std::size_t kEndedRemembered = 256;

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // peer, recovery
  struct Export {
    ExportQuestion question;
    ClientId owner = 0;
    std::shared_ptr<const std::vector<std::byte>> bytes;  // nullptr: the thread has not made it yet
    std::optional<base::Error> failure = {};              // it cannot be made
  };
  struct Suspects {
    segment::VersionId id;
    std::shared_ptr<const std::vector<std::byte>> bytes;
    std::vector<BlockPlace> blocks;
  };
  struct State {
    std::map<Key, Export> exports;
    std::deque<Suspects> to_judge;
    std::deque<Key> to_make;
    std::deque<Key> ended;  // the last few, so that a late question begins nothing
    os::Thread thread;
  };
  base::Result<ExportAnswer> answer(State& state, const Key& key, const ExportQuestion& question);
  base::Status begin_thread(State& state);
  base::Result<ExportedPieces> make(const ExportQuestion& question);
  void end_if(const std::function<bool(const Key&)>& which, const Key* named);
  void judge_one(const Suspects& suspects);
  void run();

  Ledger& ledger_;
  ExporterContext context_;
  base::Guarded<State> state_;
  std::condition_variable wake_;
  std::atomic<bool> closed_ = false;  // set with the state held; asked between slots
};

}  // namespace perdure::engine
