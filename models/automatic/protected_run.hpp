#pragma once
// A program steers, by this interface, a run that makes its checkpoints by itself.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perdure::automatic {

struct Policy {
  std::string name = "mesh";      ///< of the checkpoints
  double every_s = 0;             ///< a checkpoint so long after the one before; 0: not by time
  std::uint64_t every_loops = 0;  ///< or after so many loops; 0: not by loops
  std::string before;             ///< only before loops of this name; "": where it is smallest
  std::vector<std::string> only;  ///< data sets that are saved as a whole, and no others; empty: what is needed
  /// So many loops of the run say where a checkpoint is smallest, or up to eight times as many where time steps are
  /// long.
  std::uint64_t learns = 2048;
  std::uint64_t decides = 20000;  ///< of what so many loops behind a place do not touch all is saved
  std::string report;             ///< a file that says where a checkpoint is smallest, for `perdure track`; "": none
  /// SIGTERM and SIGINT: a checkpoint at the next place, and when it is in the store the process ends as it would have.
  /// SIGUSR1: a checkpoint. On any rank.
  bool on_signals = false;
  /// Seconds that ranks wait for each other before a checkpoint, and where they agree on one; 0: as long as it takes.
  double patience_s = 1800;
  std::string calls = "loop";  ///< what texts call a loop
  bool foresees = true;        ///< saves at the place what loops behind it will need, as learnt, and watches them
};

/// One checkpoint that the run made.
struct Taken {
  std::string before;             ///< the loop
  std::uint64_t loop = 0;         ///< its number
  std::uint64_t bytes = 0;        ///< of all ranks
  std::uint64_t state_bytes = 0;  ///< all data sets with their halos, of all ranks
  double blocking_s = 0;          ///< this rank did not compute
  bool foreseen = false;          ///< it was written at once; else what loops read was put aside until all was known
};

/// A run that makes checkpoints by itself, and goes on from them.
class ProtectedRun {
 public:
  virtual ~ProtectedRun() = default;
  /// The program can begin here with `payload` alone, which says where "here" is, such as its time step; what was
  /// before need not be replayed. In a restart: what the checkpoint has, once, and the program goes there.
  virtual std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload) = 0;
  /// Before a program takes anything out of its data sets at its end. Throws where it has not come to the place that it
  /// was to go on from: it is a shorter program, or other input, and what its data sets have is not what it computed.
  virtual void ended() const = 0;
  /// At the next place, whatever the policy says. All ranks say so.
  virtual void trigger() = 0;
  virtual bool restarted() const = 0;
  virtual bool knows_answer() const = 0;         ///< loops are skipped, up to that place
  virtual std::uint64_t goes_on_at() const = 0;  ///< the loop that a restart goes to
  virtual const std::vector<Taken>& taken() const = 0;
};

}  // namespace perdure::automatic
