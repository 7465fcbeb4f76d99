#pragma once
// Defines structured meshes: blocks, data on them, and loops over index ranges that declare their reads and writes.
// From the declarations the library knows when neighbours need each other's elements, and what a checkpoint must hold.
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

/// Names a loop and its place in the program. The place is the function, so that a restart still recognises the loop
/// after lines were added above it.
struct LoopName {
  LoopName(const char* called, const char* in_file = __builtin_FILE(), const char* in_function = __builtin_FUNCTION())
      : text(called), file(in_file), function(in_function) {}
  const char *text, *file, *function;
};

struct Options {
  int threads = 1;
  /// Sums have the same bits on any number of ranks and threads; they are exact until they are rounded once at the end.
  bool reproducible = false;
  /// Runs every loop twice on one thread and watches it. A loop that accesses elements outside its declaration throws
  /// std::runtime_error with its name. Slow.
  bool check = false;
};

/// A program that ranks run together: every rank makes the same calls in the same order. Names of data sets have 1 to
/// 56 characters of A-Z a-z 0-9 . _ -, and begin with a letter. Errors throw std::runtime_error.
class Mesh {
 public:
  explicit Mesh(std::unique_ptr<Ranks> ranks = one_rank(), Options options = {});
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  const Options& options() const { return options_; }
  Ranks& ranks() { return *ranks_; }
  /// Adds a block with cells 0 to before `cells[d]`, x first, in 1 to 3 dimensions, divided among all ranks. The
  /// reference is valid as long as the mesh.
  const Block& block(std::string name, std::vector<std::int64_t> cells, std::int64_t widest_halo = 2);
  /// Adds a data set of zeros. The reference is valid as long as the mesh.
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
  /// Combines the values that all ranks' loops added since the last call; all ranks get the same. All reductions must
  /// be of one kind.
  void collect(std::initializer_list<Reduction*> reductions);
  double collect(Reduction& reduction) {
    collect({&reduction});
    return reduction.value();
  }

  /// Runs `kernel` at every index of `range`, in any order, with one value from each of `arguments`. The arguments
  /// declare all that the kernel reads and writes. A loop must not read elements that it writes at another index.
  template <class Kernel, class... Arguments>
  void par_loop(LoopName name, const Block& block, const Box& range, const Kernel& kernel,
                const Arguments&... arguments);

  /// Marks a point that all ranks reach, at which they agree on checkpoints. For programs without reductions.
  /// [collective]
  void tick();

  /// Runs several copies as one loop. It reads everything before it writes anything. No element may be written twice.
  void transfer(LoopName name, std::span<const Transfer> transfers);
  /// Copies to[index] = from[index + offset] for all indices of `to_range`, on any ranks.
  void transfer(LoopName name, Dataset& to, const Box& to_range, const Dataset& from, const Index& offset) {
    const Transfer one{&to, to_range, &from, offset};
    transfer(name, std::span(&one, 1));
  }

  /// Says that the program itself reads `range` of these data sets (Data::at), to print or to hash them. Returns false
  /// while loops are skipped: the elements then do not have their values.
  bool look(LoopName name, const Box& range, std::initializer_list<const Dataset*> sets);
  /// Declares a look at another range of each data set. One look covers all: either all elements have their values, or
  /// none may be used.
  struct Part {
    const Dataset* set;
    Box range;
  };
  bool look(LoopName name, std::span<const Part> parts);

  /// Sets the follower that is asked before each loop; null for none.
  void follow(std::unique_ptr<Follower> follower);
  Follower* follower() { return follower_.get(); }
  const GhostExchange& ghosts() const { return ghosts_; }

  /// Called by templates: returns the part of `range` that this rank runs, or nothing if the loop is skipped.
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
  int open_reductions_ = 0;  // reductions with additions that were not collected
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
    std::string text;  // a copy: the program may have another text at that address by now
    track::LoopId id;
  };
  std::unordered_map<Site, Known, SiteHash> ids_;
};

}  // namespace perdure::mesh

#include "mesh/par_loop.hpp"  // IWYU pragma: export
