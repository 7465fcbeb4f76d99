#pragma once
// What people do with a program, as data: start after start, between which they change its code, forget to restore, to
// close or to name the case, end it at any moment, and lose the machine. As text it has a line for each start, which
// names what differs from the plainest one.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace perdure::campaign {

/// A region as the program's code has it: numbers of 8 bytes.
struct CodeRegion {
  int id = 0;
  std::string name = "";  ///< empty: it has none
  int count = 100;
  std::string type = "";  ///< "i8", "f8"; empty: nothing is said
  bool optional = false;
  bool followed = false;
  friend bool operator==(const CodeRegion&, const CodeRegion&) = default;
};

/// What the program's code says of its regions.
struct Code {
  std::vector<CodeRegion> regions{{0, "x"}, {1, "y"}};
  std::vector<std::pair<std::string, std::string>> renamed{};
  std::vector<std::string> passed_over{};
  friend bool operator==(const Code&, const Code&) = default;
};

/// One start of a program.
struct Start {
  std::string name = "run";   ///< of its checkpoints
  std::string job = "first";  ///< each has names of its own here
  std::string study = "a";    ///< the option `case`
  Code code{};
  std::string from = "latest";  ///< or "none", "left" (the branch that was left last), or a version's number
  bool stubborn = false;        ///< takes every restore that fails for a first start
  bool refuse = false;          ///< new_start=refuse
  int writes = 2;
  std::string memory{};  ///< of owners, before the last checkpoint: "move", "swap", "grow", "shrink" or "clear"
  std::string mode = "embedded";
  bool supervised = false;    ///< by `perdure run`
  bool computes = false;      ///< it goes on until somebody ends it
  bool asks = false;          ///< and asks meanwhile whether a checkpoint is due, with signals=checkpoint
  std::string stop{};         ///< it is sent "term" or "kill",
  int after_ms = 0;           ///< so much later than it was started
  int grace_ms = 0;           ///< run.grace
  std::string end = "close";  ///< or "return", "exit", "quick", "abort"
  int descriptors = 0;        ///< the most it may have; 0: as many as the test
  int room_kib = 0;           ///< of each tier; 0: plenty
  bool machine_lost = false;  ///< after it, with all that was not stored
  friend bool operator==(const Start&, const Start&) = default;
};

struct People {
  int keep_last = 3;  ///< retention, in all starts
  std::vector<Start> starts{};
  friend bool operator==(const People&, const People&) = default;
};

std::string text_of(const People& people);
/// Error: PERDURE_INVALID_ARGUMENT for what is none, or cannot be carried out.
base::Result<People> people_from(const std::string& text);
bool can_be_carried_out(const People& people);

/// It follows from the seed alone.
People draw_people(unsigned seed);
/// Those with one thing less, the largest steps first.
std::vector<People> smaller_ones(const People& people);

/// What a region called `id` has at the `turn`-th checkpoint of a start.
inline std::int64_t stamp_of(std::size_t start) { return static_cast<std::int64_t>(start + 1) * 1000; }
inline std::int64_t value_of(std::int64_t stamp, int id) { return stamp * 1000 + id; }

/// The counts of a program's regions at its `turn`-th checkpoint, in their order.
std::vector<int> counts_at(const Start& start, std::size_t turn);

}  // namespace perdure::campaign
