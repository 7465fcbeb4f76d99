// Draws user behaviour. Most starts are those of careful users; mistakes are rare.
#include <algorithm>
#include <random>
#include <set>

#include "campaign/people_data.hpp"

namespace perdure::campaign {
namespace {

class PeopleDrawing {
 public:
  explicit PeopleDrawing(unsigned seed) : random_(seed) {}
  People people();

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool once_in(int many) { return below(many) == 0; }
  std::string one_of(const std::vector<std::string>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  Code first_code();
  CodeRegion region(const Code& code);
  int free_id(const Code& code);
  Code changed(Code code);
  void change(Code& code, bool declared);
  void add(Code& code, bool declared);
  void remove(Code& code, bool declared);
  void rename(Code& code, bool declared);
  void swap_numbers(Code& code);
  void change_one(Code& code, int what);
  void draw_restore(Start& start);
  void draw_end(Start& start);
  void draw_stop(Start& start);
  void draw_limits(Start& start);
  Start another_case(Start start);
  Start another_job();

  std::mt19937 random_;
  int names_ = 0;
  std::vector<std::string> old_names_;  // former names of regions
};

CodeRegion PeopleDrawing::region(const Code& code) {
  CodeRegion made;
  made.id = free_id(code);
  made.name = once_in(6) ? "" : "n" + std::to_string(++names_);
  made.count = once_in(3) ? 1 + below(5000) : 100;
  made.type = once_in(2) ? one_of({"i8", "f8"}) : "";
  made.followed = made.type.empty() && once_in(2);
  return made;
}

int PeopleDrawing::free_id(const Code& code) {
  for (;;) {
    const int id = below(12);
    if (std::none_of(code.regions.begin(), code.regions.end(), [&](const auto& one) { return one.id == id; }))
      return id;
  }
}

Code PeopleDrawing::first_code() {
  Code code;
  code.regions.clear();
  for (int i = 1 + below(4); i > 0; --i) code.regions.push_back(region(code));
  return code;
}

void PeopleDrawing::add(Code& code, bool declared) {
  if (code.regions.size() > 8) return;
  CodeRegion added = region(code);
  // Draws a name that another region had before.
  if (!old_names_.empty() && once_in(3)) added.name = one_of(old_names_);
  added.optional = declared;
  code.regions.push_back(added);
}

void PeopleDrawing::remove(Code& code, bool declared) {
  if (code.regions.size() < 2) return;
  const auto at = code.regions.begin() + below(static_cast<int>(code.regions.size()));
  if (declared) code.passed_over.push_back(once_in(5) ? "*" : at->name.empty() ? std::to_string(at->id) : at->name);
  if (!at->name.empty()) old_names_.push_back(at->name);
  code.regions.erase(at);
}

void PeopleDrawing::rename(Code& code, bool declared) {
  CodeRegion& renamed = code.regions[static_cast<std::size_t>(below(static_cast<int>(code.regions.size())))];
  const std::string before = renamed.name.empty() ? std::to_string(renamed.id) : renamed.name;
  if (!renamed.name.empty()) old_names_.push_back(renamed.name);
  renamed.name = "n" + std::to_string(++names_);
  if (declared) code.renamed.emplace_back(before, renamed.name);
}

void PeopleDrawing::swap_numbers(Code& code) {
  if (code.regions.size() > 1) std::swap(code.regions[0].id, code.regions[1].id);
}

void PeopleDrawing::change_one(Code& code, int what) {
  CodeRegion& one = code.regions[static_cast<std::size_t>(below(static_cast<int>(code.regions.size())))];
  if (what == 0) one.count = 1 + below(300);
  if (what == 1 && !one.followed) one.type = one.type == "i8" ? "f8" : "i8";
  if (what == 2) one.id = free_id(code);
  if (what == 3) one.name = "";
}

void PeopleDrawing::change(Code& code, bool declared) {
  switch (below(8)) {
    case 0:
      return add(code, declared);
    case 1:
      return remove(code, declared);
    case 2:
      return rename(code, declared);
    case 3:
      return swap_numbers(code);
    default:
      return change_one(code, below(4));
  }
}

// Draws again if the result is no valid program: names may repeat, and renames may form a cycle.
Code PeopleDrawing::changed(Code code) {
  const bool declared = !once_in(3);
  for (int tries = 0; tries < 20; ++tries) {
    Code next = code;
    for (int changes = once_in(3) ? 2 : 1; changes > 0; --changes) change(next, declared);
    Start trial;
    trial.code = next;
    if (next != code && can_be_carried_out({3, {trial}})) return next;
  }
  return code;
}

void PeopleDrawing::draw_restore(Start& start) {
  start.from = once_in(8) ? "none" : once_in(10) ? "left" : once_in(8) ? std::to_string(1 + below(6)) : "latest";
  start.stubborn = once_in(8);
  start.refuse = once_in(6);
  start.writes = below(4);
  if (once_in(3)) start.memory = one_of({"move", "swap", "grow", "shrink", "move", "swap", "clear"});
}

void PeopleDrawing::draw_stop(Start& start) {
  start.stop = once_in(3) ? "kill" : "term";
  start.after_ms = once_in(4) ? below(20) : below(350);
  start.computes = !once_in(3);
  start.asks = start.stop == "term" && !once_in(3);
  start.writes = below(30);
  start.grace_ms = start.supervised ? 20 + below(600) : 0;
}

void PeopleDrawing::draw_end(Start& start) {
  start.supervised = start.mode == "embedded" && once_in(4);
  start.end = once_in(2) ? "close" : one_of({"return", "exit", "quick", "abort"});
  if (once_in(3)) draw_stop(start);
  start.machine_lost = once_in(6);
}

void PeopleDrawing::draw_limits(Start& start) {
  // `perdure run`, its flush and perdured have their own limits, so only programs without them are limited.
  const bool alone = !start.supervised && start.mode == "embedded" && start.stop.empty();
  if (alone && once_in(6)) start.descriptors = 8 + below(60);
  if (once_in(8)) start.room_kib = 128 * (1 + below(8));
}

// Starts the second case of a study in the first one's directory.
Start PeopleDrawing::another_case(Start start) {
  start.study = start.study == "a" ? "b" : "a";
  start.stop.clear();
  start.computes = false;
  start.end = "close";
  start.descriptors = 0;
  return start;
}

// Draws a job that dies and may come back later.
Start PeopleDrawing::another_job() {
  Start start;
  start.name = "other" + std::to_string(below(2));
  start.job = "dead-" + start.name;
  start.writes = 1 + below(3);
  start.end = once_in(3) ? "close" : "quick";
  return start;
}

People PeopleDrawing::people() {
  People people;
  people.keep_last = 1 + below(4);
  Code code = first_code(), before = code;
  for (int i = 3 + below(4); i > 0; --i) {
    if (!people.starts.empty() && once_in(2)) {
      before = code;
      code = changed(code);
    }
    Start start;
    start.code = code;
    start.mode = once_in(6) ? "daemon" : "embedded";
    draw_restore(start);
    draw_end(start);
    draw_limits(start);
    people.starts.push_back(start);
    if (once_in(5)) people.starts.push_back(another_case(start));
    if (once_in(4)) people.starts.push_back(another_job());
    if (once_in(4)) code = before;  // the change is taken back
  }
  Start last;
  last.code = code;
  people.starts.push_back(last);
  return people;
}

}  // namespace

People draw_people(unsigned seed) { return PeopleDrawing(seed).people(); }

}  // namespace perdure::campaign
