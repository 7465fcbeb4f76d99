#pragma once
// Defines the interface by which a program steers a run that makes its checkpoints by itself.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perdure::automatic {

struct Policy {
  std::string name = "mesh";      ///< of the checkpoints
  double every_s = 0;             ///< seconds from one checkpoint to the next; 0: not by time
  std::uint64_t every_loops = 0;  ///< loops from one checkpoint to the next; 0: not by loops
  std::string before;             ///< only before loops of this name; "": where it is smallest
  std::vector<std::string> only;  ///< data sets to save as a whole, and no others; empty: all data that is needed
  /// The number of loops from which the run learns where a checkpoint is smallest. If time steps are long, it is up to
  /// eight times as many.
  std::uint64_t learns = 2048;
  std::uint64_t decides = 20000;  ///< data that so many loops do not touch is saved
  std::string report;             ///< file of the report for `perdure track`; "": none
  /// On SIGTERM and SIGINT the run makes a checkpoint at the next place. Once it is in the store, the process ends as
  /// the signal would have ended it. On SIGUSR1 it only makes a checkpoint. Any rank may get the signal.
  bool on_signals = false;
  /// Seconds that ranks wait for each other before a checkpoint, and when they agree on one; 0: without limit.
  double patience_s = 1800;
  std::string calls = "loop";  ///< the word for a loop in messages
  bool foresees = true;        ///< saves at the place the data that later loops will need, as learnt, and watches them
};

/// Describes one checkpoint that the run made.
struct Taken {
  std::string before;             ///< the loop's name
  std::uint64_t loop = 0;         ///< the loop's number
  std::uint64_t bytes = 0;        ///< of all ranks
  std::uint64_t state_bytes = 0;  ///< all data sets with their halos, of all ranks
  double blocking_s = 0;          ///< time in which this rank did not compute
  bool foreseen = false;          ///< written at once; otherwise data was put aside until all needs were known
};

/// A run that makes checkpoints by itself, and resumes from them.
class ProtectedRun {
 public:
  virtual ~ProtectedRun() = default;
  /// Declares that the program can start from here with only `payload`, which names this point, such as its time step.
  /// Earlier loops then need no replay. In a restart, returns the checkpoint's payload once, and the program jumps
  /// there.
  virtual std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload) = 0;
  /// Call it before the program takes results out of its data sets at its end. Throws if the run has not reached the
  /// place from which it should resume. The program is then shorter or has other input, and its data sets do not hold
  /// its results.
  virtual void ended() const = 0;
  /// Asks for a checkpoint at the next place, whatever the policy says. All ranks must call it.
  virtual void trigger() = 0;
  virtual bool restarted() const = 0;
  virtual bool knows_answer() const = 0;         ///< the run skips loops, up to that place
  virtual std::uint64_t goes_on_at() const = 0;  ///< the loop that a restart resumes at
  virtual const std::vector<Taken>& taken() const = 0;
};

}  // namespace perdure::automatic
