#pragma once
// Runs a program that declares around each of its regions of code what the region reads and writes, and leaves the rest
// to a Protection. This is include/perdure/perdure_track.h in C++.
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
  /// One access of a region: as perdure_access, to a data set or a value.
  struct Use {
    track::Access::Mode mode = track::Access::Mode::read;
    track::SetId set = 0;
    std::optional<Box> box;      ///< empty: the whole set
    std::span<std::byte> gives;  ///< a value instead of a set
    bool touches_all = false;    ///< all data sets instead of one
  };
  /// `reports`: this rank writes the policy's report.
  AnnotatedProgram(Policy policy, bool reports) : policy_(std::move(policy)), reports_(reports) {
    policy_.calls = "region";
  }
  /// From here on end() fails for a region that uses data that it did not declare.
  void check_regions(RegionCheck::Looks looks) { check_.emplace(looks); }
  bool checks() const { return check_.has_value(); }

  // All of these throw Failure, or the exceptions of the store.
  track::SetId declare(StoredSet set);
  const StoredSet& set(track::SetId id) const;
  void start(std::unique_ptr<CheckpointStore> store);
  /// Returns whether the program is to run the region; if so, it calls end() afterwards.
  bool begin(std::string_view name, std::string_view where, std::span<const Use> uses);
  void end();
  void swap(track::SetId one, track::SetId other);
  void moved(track::SetId id, std::vector<Part> owned);
  /// Ranks agree on whether a checkpoint is due. [collective]
  void tick();
  void trigger();
  /// In a restart, returns the payload of the run that made the checkpoint.
  std::optional<std::vector<std::byte>> fast_forward(std::span<const std::byte> payload);
  /// Call it before the program takes results out.
  void ended() const;

  bool skips() const { return protection_ && protection_->knows_answer(); }
  std::uint64_t regions() const { return regions_; }
  const Protection* protection() const { return protection_.get(); }
  std::optional<std::string> next_report();
  /// Call it at the end of a run. If the run should have made checkpoints and made none, returns a sentence that says
  /// so, and the reason if known. Returns "" otherwise, and on ranks that write no report.
  std::string lack_of_checkpoints() const;

 private:
  void tell(const std::string& said);
  void must_be_between(const std::string& what) const;
  void accesses_of(std::string_view name, const Use& use);
  void check(std::string_view name, const Use& use) const;

  Policy policy_;
  bool reports_;
  std::vector<StoredSet> sets_;  // until the start
  std::unique_ptr<Protection> protection_;
  std::deque<std::string> told_;
  std::vector<track::Access> accesses_;
  std::vector<std::span<std::byte>> gives_;
  std::string open_;  // the name of the running region
  bool is_open_ = false;
  std::optional<RegionCheck> check_;
  std::uint64_t regions_ = 0;
};

}  // namespace perdure::automatic
