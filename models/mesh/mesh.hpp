#pragma once
// Structured meshes: blocks, data on them, and loops over ranges of indices that say what they read and write. So the
// library knows when neighbours need each other's elements, and what a checkpoint must hold.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mesh/arguments.hpp"
#include "mesh/ghosts.hpp"
#include "mesh/transfer.hpp"
#include "perdure/arrays.hpp"

namespace perdure::automatic {
class Follower;
}  // namespace perdure::automatic

namespace perdure::mesh {

using automatic::Follower;

/// What a loop is called, and where it stands: the function, so that a restart takes it for the same one after lines
/// were added above it.
struct LoopName {
  LoopName(const char* called, const char* in_file = __builtin_FILE(), const char* in_function = __builtin_FUNCTION())
      : text(called), file(in_file), function(in_function) {}
  const char *text, *file, *function;
};

struct Options {
  int threads = 1;
  /// Sums have the same bits on any number of ranks and threads, and are exact until they are rounded at the end.
  bool reproducible = false;
  /// Every loop is run twice and watched, by one thread: who reads or writes other than it says is told by name, as an
  /// exception (std::runtime_error). Slow.
  bool check = false;
};

/// A program that ranks run together: every rank calls the same in the same order. Names of data sets have 1 to 56 of
/// A-Z a-z 0-9 . _ -, beginning with a letter. What goes wrong throws std::runtime_error.
class Mesh {
 public:
  explicit Mesh(std::unique_ptr<Ranks> ranks = one_rank(), Options options = {});
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  const Options& options() const { return options_; }
  Ranks& ranks() { return *ranks_; }
  /// Cells 0 to before `cells[d]`, x first, in 1 to 3 dimensions, divided among all ranks. The reference is good as
  /// long as the mesh.
  const Block& block(std::string name, std::vector<std::int64_t> cells, std::int64_t widest_halo = 2);
  /// Cleared. The reference is good as long as the mesh.
  template <class T = double>
  Data<T>& data(const Block& block, std::string name, Shape shape = {}) {
    auto made = std::make_unique<Data<T>>(block, std::move(name), sizeof(T), ElementType<T>::text, std::move(shape),
                                          ranks_->rank());
    auto& reference = *made;
    add(std::move(made));
    return reference;
  }
  std::span<const std::unique_ptr<Dataset>> datasets() const { return sets_; }

  Reduction sum() { return {Reduction::Kind::sum, options_.threads, options_.reproducible, open_reductions_}; }
  Reduction least() { return {Reduction::Kind::least, options_.threads, false, open_reductions_}; }
  Reduction most() { return {Reduction::Kind::most, options_.threads, false, open_reductions_}; }
  /// What all ranks' loops have added since the last time; the same on all. All of one kind.
  void collect(std::initializer_list<Reduction*> reductions);
  double collect(Reduction& reduction) {
    collect({&reduction});
    return reduction.value();
  }

  /// Runs `kernel` at every index of `range`, in any order; it is called with what each of `arguments` stands for. They
  /// say all that it reads and writes. A loop reads nothing that it writes at another index.
  template <class Kernel, class... Arguments>
  void par_loop(LoopName name, const Block& block, const Box& range, const Kernel& kernel,
                const Arguments&... arguments);

  /// For programs without reductions: a point that all ranks come to, at which they agree on checkpoints. [collective]
  void tick();

  /// A loop that copies: all of them at once, which write no element twice. It reads all before it writes anything.
  void transfer(LoopName name, std::span<const Transfer> transfers);
  /// to[index] = from[index + offset] for all indices of `to_range`, whichever ranks have them.
  void transfer(LoopName name, Dataset& to, const Box& to_range, const Dataset& from, const Index& offset) {
    const Transfer one{&to, to_range, &from, offset};
    transfer(name, std::span(&one, 1));
  }

  /// For programs that take elements out of data sets by themselves (Data::at), to print or to hash them: says that
  /// they read `range` of these. False where loops are skipped, and the elements are not what they will be.
  bool look(LoopName name, const Box& range, std::initializer_list<const Dataset*> sets);
  /// Of each data set another range. It is one look: all of them are what they will be, or none is to be taken.
  struct Part {
    const Dataset* set;
    Box range;
  };
  bool look(LoopName name, std::span<const Part> parts);

  /// Who is asked before each loop, or nobody (null).
  void follow(std::unique_ptr<Follower> follower);
  Follower* follower() { return follower_.get(); }
  const GhostExchange& ghosts() const { return ghosts_; }

  /// Of non-template code: what of `range` is this rank's to run; nothing where the loop is skipped.
  std::optional<Box> begin_loop(const LoopName& name, const Block& block, const Box& range, std::span<const Use> uses);

 private:
  void add(std::unique_ptr<Dataset> set);
  void bring_ghosts(const LoopName& name, const Box& range, std::span<const Use> uses);
  track::LoopId id_of(const LoopName& name);

  std::unique_ptr<Ranks> ranks_;
  Options options_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Dataset>> sets_;
  std::unique_ptr<Follower> follower_;
  GhostExchange ghosts_;
  int open_reductions_ = 0;  // to which loops have added, and that were not collected
  TransferExchange transfers_;
  std::vector<track::Access> accesses_;
  std::vector<double> values_;
  std::vector<std::int64_t> digits_;
  struct Site {
    const char *text, *file, *function;
    friend bool operator==(const Site&, const Site&) = default;
  };
  struct SiteHash {
    std::size_t operator()(const Site& site) const;
  };
  struct Known {
    std::string text;  // what the pointer stood for: a program may have another text there by now
    track::LoopId id;
  };
  std::unordered_map<Site, Known, SiteHash> ids_;
};

}  // namespace perdure::mesh

#include "mesh/par_loop.hpp"  // IWYU pragma: export
