#pragma once
// What Perdure has promised to the jobs of a scenario, and whether what it answered keeps it. Pure: told what each rank
// was told, and what was destroyed. Where it cannot know, it expects less, never more.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/scenario_data.hpp"

namespace perdure::campaign {

/// What a rank was told at one act.
struct Answer {
  bool begun = false, done = false;  ///< not done: it died before
  int status = 0;                    ///< a perdure_status
  std::uint64_t step = 0;            ///< of the state that the rank has then
  std::int64_t version = -1;         ///< restored, looked up, or written
  bool right = true;                 ///< the state is that of this step, bit for bit; else `text` says what is not
  bool touched = false;              ///< a restore has written something
  int level = 0;                     ///< after a wait, what perdure_level_reached says
  std::string text{};                ///< of the error
};

/// What a launch came to.
struct Told {
  std::vector<std::vector<Answer>> answers;  ///< by rank and act
  bool all_opened = true;
  std::string why_not_opened{};
  std::optional<int> rival{};  ///< what the rival was told while all ranks lived: a perdure_status
  bool hung = false;           ///< it was killed at its time limit
  bool stopped = false;        ///< ranks ended with something else than what the scenario says
};

/// What was destroyed after a launch.
struct Destroyed {
  std::vector<int> nodes{};
  std::vector<std::int64_t> versions_in_store{};  ///< of the launch's job, with a flipped bit
  /// Where a bit of a state was flipped in a slot: the node, and the state's step.
  std::vector<std::pair<int, std::uint64_t>> slots{};
  bool store = false;
  bool forgotten = false;
};

/// A promise that was not kept.
struct Violation {
  std::string rule;  ///< which, in a few words; the same for the same defect
  std::string text;
};

class Model {
 public:
  explicit Model(const Scenario& scenario) : scenario_(scenario) {}
  /// To be called for each launch, in order: what it answered against what was promised. Promises of this launch count
  /// from then on.
  std::vector<Violation> judge(std::size_t launch, const Told& told);
  /// And after it what was destroyed.
  void destroyed(std::size_t launch, const Destroyed& what);
  /// What is promised now, for people.
  std::string text() const;

 private:
  /// One writing of a version; they are in the order in which they were begun.
  struct Attempt {
    int job = 0;
    std::uint64_t step = 0;
    std::int64_t version = 0;
    int level = 0;               ///< told by a call that succeeded
    bool refused = false;        ///< the ranks were told that it failed
    bool left = false;           ///< of a branch that the program left: may go
    bool forgotten = false;      ///< must not come back
    bool may_be_stored = false;  ///< the store has worked since
    bool store_gone = false;     ///< the store was destroyed since
    bool damaged_in_store = false;
    std::set<int> damaged_on{};  ///< nodes of which a slot has a flipped bit: as good as lost
    int ranks = 0;               ///< that captured it
    Launch layout{};             ///< on which nodes, with which redundancy
    std::set<int> intact{};      ///< of its nodes, those that still have what they had
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
  std::map<std::string, std::set<int>> owners_;  ///< of a name: jobs that may own it; -1: nobody
  bool store_was_there_ = false;
};

}  // namespace perdure::campaign
