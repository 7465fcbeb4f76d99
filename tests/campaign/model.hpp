#pragma once
// Models Perdure's promises to the jobs of a scenario, and judges whether its answers keep them. Pure: the caller
// reports each rank's answers and all destruction. If the model cannot know, it expects less, never more.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

/// The result of one act on one rank.
struct Answer {
  bool begun = false, done = false;  ///< done is false if the rank died before the end
  int status = 0;                    ///< a perdure_status
  std::uint64_t step = 0;            ///< of the rank's state afterwards
  std::int64_t version = -1;         ///< restored, looked up, or written
  bool right = true;                 ///< the state is exactly that of `step`; else `text` says how it differs
  bool touched = false;              ///< a restore has written something
  int level = 0;                     ///< after a wait: the result of perdure_level_reached
  std::string text{};                ///< of the error
};

/// The outcome of a launch.
struct Told {
  std::vector<std::vector<Answer>> answers;  ///< by rank and act
  bool all_opened = true;
  std::string why_not_opened{};
  std::optional<int> rival{};  ///< the rival's perdure_status while all ranks lived
  bool hung = false;           ///< it was killed at its time limit
  bool stopped = false;        ///< ranks ended otherwise than the scenario says
};

/// Everything that was destroyed after a launch.
struct Destroyed {
  std::vector<int> nodes{};
  std::vector<std::int64_t> versions_in_store{};  ///< versions of the launch's job with a flipped bit
  /// Slots in which a bit of a state was flipped: the node, and the state's step.
  std::vector<std::pair<int, std::uint64_t>> slots{};
  bool store = false;
  bool forgotten = false;
};

/// A promise that was not kept.
struct Violation {
  std::string rule;  ///< the rule's name in a few words; the same for the same defect
  std::string text;
};

class Model {
 public:
  explicit Model(const Scenario& scenario) : scenario_(scenario) {}
  /// Judges one launch against earlier promises, and records its own. Must be called for each launch, in order.
  std::vector<Violation> judge(std::size_t launch, const Told& told);
  /// Records the destruction after the launch.
  void destroyed(std::size_t launch, const Destroyed& what);
  /// Describes the current promises for people.
  std::string text() const;

 private:
  /// One attempt at a version; attempts are in the order in which they began.
  struct Attempt {
    int job = 0;
    std::uint64_t step = 0;
    std::int64_t version = 0;
    int level = 0;               ///< the highest level that a successful call reported
    bool refused = false;        ///< the ranks were told that it failed
    bool left = false;           ///< of a branch that the program left; may disappear
    bool forgotten = false;      ///< must not come back
    bool may_be_stored = false;  ///< the store has worked since
    bool store_gone = false;     ///< the store was destroyed since
    bool damaged_in_store = false;
    std::set<int> damaged_on{};  ///< nodes with a flipped bit in a slot: as good as lost
    int ranks = 0;               ///< number of ranks that captured it
    Launch layout{};             ///< the nodes and redundancy at that time
    std::set<int> intact{};      ///< its nodes that still have their data
  };

  Attempt* find(std::uint64_t step);
  std::string text_of(const Attempt& attempt) const;
  bool is_where_it_was(const Attempt& attempt, const Launch& launch) const;
  bool survives_at_node(const Attempt& attempt, const Launch& launch) const;
  bool is_there(std::size_t attempt, const Launch& launch) const;
  bool is_the_store_s(std::size_t attempt, const Launch& launch) const;
  bool is_proof(const Attempt& attempt, const Launch& launch) const;
  std::optional<std::size_t> required(const Launch& launch) const;
  bool is_foreign(const Launch& launch, bool certainly) const;
  void note_owner(const Launch& launch, bool writes);

  struct Judging;
  void judge_act(Judging& now, std::size_t act);
  void judge_restore(Judging& now, const Answer& answer, bool latest);
  void judge_first_start(Judging& now, const Answer& answer) const;
  void judge_failed_restore(Judging& now, const Answer& answer, bool latest);
  void judge_look(Judging& now, const Answer& answer);
  void judge_checkpoint(Judging& now, std::size_t act, const Answer& answer);
  void judge_wait(Judging& now, const Answer& answer, int level);
  void judge_close(Judging& now, const Answer& answer);
  void judge_rival(Judging& now);
  void leave_what_is_newer(int job, std::uint64_t step);

  const Scenario& scenario_;
  std::vector<Attempt> attempts_;
  std::map<std::string, std::set<int>> owners_;  ///< for each name: jobs that may own it; -1: none
  bool store_was_there_ = false;
};

}  // namespace perdure::campaign
