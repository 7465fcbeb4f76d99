#pragma once
// A program that says around each of its regions of code what that reads and writes, and leaves the rest to a
// Protection: what include/perdure/perdure_track.h does, in C++.
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "automatic/protection.hpp"
#include "automatic/region_check.hpp"

namespace perdure::automatic {

class AnnotatedProgram {
 public:
  /// What a region does: as perdure_access, of a data set or a value.
  struct Use {
    track::Access::Mode mode = track::Access::Mode::read;
    track::SetId set = 0;
    std::optional<Box> box;      ///< nothing: all of it
    std::span<std::byte> gives;  ///< a value instead
    bool touches_all = false;    ///< all data sets instead
  };
  /// `reports`: this rank writes the policy's report.
  AnnotatedProgram(Policy policy, bool reports) : policy_(std::move(policy)), reports_(reports) {
    policy_.calls = "region";
  }
  /// From here on a region that uses what it did not say is an error of its end().
  void check_regions(RegionCheck::Looks looks) { check_.emplace(looks); }
  bool checks() const { return check_.has_value(); }

  // All throw Failure, or what the store does.
  track::SetId declare(StoredSet set);
  const StoredSet& set(track::SetId id) const;
  void start(std::unique_ptr<CheckpointStore> store);
  /// Whether it is to be run; then end() follows.
  bool begin(std::string_view name, std::string_view where, std::span<const Use> uses);
  void end();
  void swap(track::SetId one, track::SetId other);
  void moved(track::SetId id, std::vector<Part> owned);
  /// [collective] Ranks agree on whether a checkpoint is due.
  void tick();
  void trigger();
  /// In a restart, what the run that made the checkpoint said.
  std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload);
  /// Before results are taken out.
  void ended() const;

  bool skips() const { return protection_ && protection_->knows_answer(); }
  std::uint64_t regions() const { return regions_; }
  const Protection* protection() const { return protection_.get(); }
  std::optional<std::string> next_report();
  /// At the end, of a run that was to make checkpoints and has made none: a sentence that says so, and why where that
  /// is known; "" otherwise, and on ranks that write no report.
  std::string lack_of_checkpoints() const;

 private:
  void tell(const std::string& said);
  void must_be_between(const std::string& what) const;
  void accesses_of(std::string_view name, const Use& use);
  void check(std::string_view name, const Use& use) const;

  Policy policy_;
  bool reports_;
  std::vector<StoredSet> sets_;  // until it starts
  std::unique_ptr<Protection> protection_;
  std::deque<std::string> told_;
  std::vector<track::Access> accesses_;
  std::vector<std::span<std::byte>> gives_;
  std::string open_;  // the region that is run
  bool is_open_ = false;
  std::optional<RegionCheck> check_;
  std::uint64_t regions_ = 0;
};

}  // namespace perdure::automatic
