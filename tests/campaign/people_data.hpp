#pragma once
// Describes user behaviour as data, start after start. Between starts users change the code, and forget to restore, to
// close or to name the case. They end the program at any moment, and lose the machine. The text form has one line per
// start, which names the differences from the plainest start.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace perdure::campaign {

/// A region in the program's code: numbers of 8 bytes.
struct CodeRegion {
  int id = 0;
  std::string name = "";  ///< empty: it has none
  int count = 100;
  std::string type = "";  ///< "i8", "f8"; empty: unspecified
  bool optional = false;
  bool followed = false;
  friend bool operator==(const CodeRegion&, const CodeRegion&) = default;
};

/// Everything that the program's code declares about its regions.
struct Code {
  std::vector<CodeRegion> regions{{0, "x"}, {1, "y"}};
  std::vector<std::pair<std::string, std::string>> renamed{};
  std::vector<std::string> passed_over{};
  friend bool operator==(const Code&, const Code&) = default;
};

/// One start of a program.
struct Start {
  std::string name = "run";   ///< of its checkpoints
  std::string job = "first";  ///< each job has its own names here
  std::string study = "a";    ///< the option `case`
  Code code{};
  std::string from = "latest";  ///< or "none", "left" (the branch left last), or a version number
  bool stubborn = false;        ///< takes every failed restore for a first start
  bool refuse = false;          ///< new_start=refuse
  int writes = 2;
  std::string memory{};  ///< of owners, before the last checkpoint: "move", "swap", "grow", "shrink" or "clear"
  std::string mode = "embedded";
  bool supervised = false;    ///< by `perdure run`
  bool computes = false;      ///< runs until somebody ends it
  bool asks = false;          ///< and asks meanwhile whether a checkpoint is due, with signals=checkpoint
  std::string stop{};         ///< the signal that it gets: "term" or "kill",
  int after_ms = 0;           ///< so many ms after its start
  int grace_ms = 0;           ///< run.grace
  std::string end = "close";  ///< or "return", "exit", "quick", "abort"
  int descriptors = 0;        ///< limit of open descriptors; 0: that of the test
  int room_kib = 0;           ///< of each tier; 0: plenty
  bool machine_lost = false;  ///< after the start, with all data that was not stored
  friend bool operator==(const Start&, const Start&) = default;
};

struct People {
  int keep_last = 3;  ///< retention, in all starts
  std::vector<Start> starts{};
  friend bool operator==(const People&, const People&) = default;
};

std::string text_of(const People& people);
/// Error: PERDURE_INVALID_ARGUMENT if the text is no description, or cannot be carried out.
base::Result<People> people_from(const std::string& text);
bool can_be_carried_out(const People& people);

/// Draws a description from the seed; it depends on nothing else.
People draw_people(unsigned seed);
/// Returns descriptions with one thing less, the largest steps first.
std::vector<People> smaller_ones(const People& people);

/// The content of region `id` at the `turn`-th checkpoint of a start derives from these.
inline std::int64_t stamp_of(std::size_t start) { return static_cast<std::int64_t>(start + 1) * 1000; }
inline std::int64_t value_of(std::int64_t stamp, int id) { return stamp * 1000 + id; }

/// Returns the counts of a program's regions at its `turn`-th checkpoint, in order.
std::vector<int> counts_at(const Start& start, std::size_t turn);

}  // namespace perdure::campaign
