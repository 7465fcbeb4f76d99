#pragma once
// Models which data users must get back, which requests must be refused, and with which words. Pure: the caller reports
// the results of each start. If the model cannot know, it expects less, never more.
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "campaign/model.hpp"
#include "campaign/people_data.hpp"

namespace perdure::campaign {

/// One call of the program.
struct Call {
  bool done = false;  ///< false: the program ended during the call
  int status = 0;     ///< a perdure_status
  std::int64_t version = -1;
  std::string text{};
};

/// A region after the restore.
struct SeenRegion {
  int id = 0;
  bool restored = false;
  std::int64_t value = -1;  ///< value_of(); -1: nothing was written to it; -2: its elements have different origins
};

/// The results of a start.
struct Heard {
  std::optional<Call> open{}, restore{}, close{};
  std::vector<SeenRegion> regions{};
  int passed_over = 0;
  std::vector<Call> checkpoints{};
  std::vector<std::string> protects{};  ///< errors of calls that must always succeed
  std::string branch{};                 ///< the branch that it was told to restore; empty: the latest
  std::string said{};                   ///< its standard error
  int ended = 0;                        ///< its status, or 128 + signal
  bool hung = false;                    ///< it was ended at its time limit
};

/// The branch that a start reports as left behind: "kept as branch 3f9a12 (newest: run@3f9a12:2)".
struct KeptBranch {
  std::string branch;
  std::int64_t newest = 0;
};
std::optional<KeptBranch> kept_branch(const std::string& said);

/// A region in a checkpoint.
struct StoredRegion {
  int id = 0;
  std::string name{};
  int count = 0;
  std::string type{};
};
std::vector<StoredRegion> stored_by(const Code& code, const std::vector<int>& counts);

/// Which stored region fills which of the code's, and all differences, as docs/adr/0048 says. The model's own
/// implementation.
struct Fit {
  std::map<int, int> filled{};             ///< by region number in the code: the number of the stored one
  std::vector<std::string> differences{};  ///< in the words of the error
};
Fit fit_of(const Code& code, const std::vector<StoredRegion>& stored);

class PeopleModel {
 public:
  explicit PeopleModel(const People& people) : people_(people) {}
  /// Judges one start. Must be called for each start, in order.
  std::vector<Violation> judge(std::size_t number, const Heard& heard);
  /// Describes the current promises for people.
  std::string text() const;

 private:
  /// One attempt at a version; attempts are in the order in which they began.
  struct Written {
    std::string name;
    std::int64_t number = 0, stamp = 0;
    int branch = 0;
    int from = -1;         ///< the version that it goes on from
    bool certain = false;  ///< it was acknowledged, and none of its data was lost
    bool stored = false;   ///< it is certainly in the store
    bool gone = false;     ///< it must not come back
    std::vector<StoredRegion> regions{};
  };
  struct Judging;

  void judge_open(Judging& now) const;
  void judge_restore(Judging& now);
  void judge_refused_restore(Judging& now, const std::set<int>& may);
  void judge_restored(Judging& now, const std::set<int>& may);
  void judge_regions(Judging& now, const Written* from) const;
  void judge_checkpoints(Judging& now);
  void judge_checkpoint(Judging& now, const Call& call, std::size_t turn);
  void judge_message(Judging& now) const;
  void judge_end(Judging& now);
  int write(Judging& now, const Call& call, std::size_t turn);
  void lose_machine();

  std::optional<int> newest_certain(const std::string& name) const;
  std::set<int> candidates(const std::string& name) const;
  bool add_branch_of(int which, std::set<int>& may) const;
  std::set<int> wanted(const Judging& now, bool& may_be_absent) const;
  std::vector<int> line_of(int newest) const;
  bool is_newest_of_branch(int which) const;
  std::string text_of(const Written& one) const;

  const People& people_;
  std::vector<Written> written_;
  std::map<std::string, std::set<std::string>> cases_;  ///< for each name: cases that may own it
  std::map<std::string, bool> owned_;                   ///< one of these certainly does
  std::map<std::string, std::set<int>> left_;           ///< for each name: the version that may have been left last
  int branches_ = 0;
};

/// Carries out a start: on the real library, or in a test's imagination.
class PeopleDriver {
 public:
  virtual ~PeopleDriver() = default;
  virtual Heard start(const People& people, std::size_t number) = 0;
  /// Carries out the scenario's events after the start.
  virtual void after(const People& people, std::size_t number) = 0;
};

/// Carries out all starts until a rule is violated, and returns the violations. `tell` receives the results of starts.
std::vector<Violation> carry_out(const People& people, PeopleDriver& driver, std::string* tell = nullptr);

/// Defects that an imagined driver can have.
enum class Wrong {
  nothing,
  older,           ///< it restores the version before the newest
  other_content,   ///< one region gets content that it never had
  first_start,     ///< a mismatch is reported as not-found
  in_silence,      ///< a mismatch is filled as far as it fits
  by_number,       ///< names are ignored
  one_word,        ///< only the first difference is reported
  touches,         ///< a refused restore has written something
  gives_up,        ///< a new start removes the run before it
  says_nothing,    ///< the branch left behind is not reported
  any_case,        ///< another case gets the stored data
  any_start,       ///< new_start=refuse refuses nothing
  empty_owner,     ///< an owner without elements is captured
  loses_unclosed,  ///< checkpoints of a program that did not close are not stored
  wrong_number,    ///< a missing version number is reported as not-found although other versions exist
  loses_killed,    ///< checkpoints acknowledged to a killed program are lost
};
std::unique_ptr<PeopleDriver> imagined_people(Wrong wrong);

/// Runs each start as a process in `directory`, which the caller owns.
std::unique_ptr<PeopleDriver> real_people(const std::string& directory);

}  // namespace perdure::campaign
