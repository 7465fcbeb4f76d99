#pragma once
// What must come back to people, and what they must be refused, with which words. Pure: told what each start heard.
// Where it cannot know, it expects less, never more.
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "campaign/model.hpp"
#include "campaign/people_data.hpp"

namespace perdure::campaign {

/// One call of the program.
struct Call {
  bool done = false;  ///< not: the program ended within it
  int status = 0;     ///< a perdure_status
  std::int64_t version = -1;
  std::string text{};
};

/// A region after the restore.
struct SeenRegion {
  int id = 0;
  bool restored = false;
  std::int64_t value = -1;  ///< value_of(); -1: nothing was written to it; -2: its elements do not belong together
};

/// What a start heard.
struct Heard {
  std::optional<Call> open{}, restore{}, close{};
  std::vector<SeenRegion> regions{};
  int passed_over = 0;
  std::vector<Call> checkpoints{};
  std::vector<std::string> protects{};  ///< refusals of what always can be said
  std::string branch{};                 ///< that it was told to restore; empty: the latest
  std::string said{};                   ///< on standard error
  int ended = 0;                        ///< its status, or 128 + signal
  bool hung = false;                    ///< it was ended at its time limit
};

/// The branch that a start says that it leaves behind: "kept as branch 3f9a12 (newest: run@3f9a12:2)".
struct KeptBranch {
  std::string branch;
  std::int64_t newest = 0;
};
std::optional<KeptBranch> kept_branch(const std::string& said);

/// A region as a checkpoint has it.
struct StoredRegion {
  int id = 0;
  std::string name{};
  int count = 0;
  std::string type{};
};
std::vector<StoredRegion> stored_by(const Code& code, const std::vector<int>& counts);

/// Which stored region fills which of the code's, and all that differs, as docs/adr/0048 says it. The model's own.
struct Fit {
  std::map<int, int> filled{};             ///< by the number of a region of the code: that of the stored one
  std::vector<std::string> differences{};  ///< in the words of the refusal
};
Fit fit_of(const Code& code, const std::vector<StoredRegion>& stored);

class PeopleModel {
 public:
  explicit PeopleModel(const People& people) : people_(people) {}
  /// To be called for each start, in order.
  std::vector<Violation> judge(std::size_t number, const Heard& heard);
  /// What is promised now, for people.
  std::string text() const;

 private:
  /// One writing of a version; they are in the order in which they were begun.
  struct Written {
    std::string name;
    std::int64_t number = 0, stamp = 0;
    int branch = 0;
    int from = -1;         ///< the one that it goes on from
    bool certain = false;  ///< it was acknowledged, and nothing that it needs was lost
    bool stored = false;   ///< it is in the store for sure
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
  std::map<std::string, std::set<std::string>> cases_;  ///< of a name: cases that may own it
  std::map<std::string, bool> owned_;                   ///< one of these does for sure
  std::map<std::string, std::set<int>> left_;           ///< of a name: what may have been left last
  int branches_ = 0;
};

/// Carries out a start: on the built library, or in a test's imagination.
class PeopleDriver {
 public:
  virtual ~PeopleDriver() = default;
  virtual Heard start(const People& people, std::size_t number) = 0;
  /// What the start says that happens when it has ended.
  virtual void after(const People& people, std::size_t number) = 0;
};

/// Carries out all of it, as far as nothing is violated; what was violated then. `tell`: what the starts heard.
std::vector<Violation> carry_out(const People& people, PeopleDriver& driver, std::string* tell = nullptr);

/// What an imagined driver can be made to do wrong.
enum class Wrong {
  nothing,
  older,           ///< it restores the version before the newest
  other_content,   ///< one region has what it never had
  first_start,     ///< what does not fit is told as not-found
  in_silence,      ///< what does not fit is filled as far as it fits
  by_number,       ///< names count for nothing
  one_word,        ///< of all that differs the first is told
  touches,         ///< a restore that is refused has written something
  gives_up,        ///< a new start removes the run before it
  says_nothing,    ///< and what stays behind is not told
  any_case,        ///< another case gets what is there
  any_start,       ///< new_start=refuse refuses nothing
  empty_owner,     ///< an owner without elements is captured
  loses_unclosed,  ///< what a program did not close is not stored
  wrong_number,    ///< a number that is not there is told as not-found, whatever else is there
  loses_killed,    ///< what a killed program had been told is lost
};
std::unique_ptr<PeopleDriver> imagined_people(Wrong wrong);

/// In `directory`, which is the caller's: each start is a process.
std::unique_ptr<PeopleDriver> real_people(const std::string& directory);

}  // namespace perdure::campaign
