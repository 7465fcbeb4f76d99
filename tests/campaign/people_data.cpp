#include "campaign/people_data.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

namespace perdure::campaign {
namespace {

base::Status no_value(const std::string& text) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "people", "a field cannot be '" + text + "'");
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == at)
      parts.emplace_back();
    else
      parts.back() += letter;
  }
  return parts;
}

template <class T, class Text>
std::string joined(const std::vector<T>& items, Text text) {
  std::string all;
  for (const T& item : items) all += (all.empty() ? "" : ",") + text(item);
  return all;
}

std::string to_text(const std::string& value) { return value; }
std::string to_text(int value) { return std::to_string(value); }
std::string to_text(bool value) { return value ? "yes" : "no"; }
std::string to_text(const std::vector<std::string>& values) {
  return joined(values, [](const std::string& one) { return one; });
}
std::string to_text(const std::vector<std::pair<std::string, std::string>>& values) {
  return joined(values, [](const auto& one) { return one.first + ">" + one.second; });
}
std::string to_text(const std::vector<CodeRegion>& values) {
  return joined(values, [](const CodeRegion& one) {
    return std::to_string(one.id) + ":" + one.name + ":" + std::to_string(one.count) + ":" + one.type + ":" +
           (one.optional ? "o" : "") + (one.followed ? "f" : "");
  });
}

base::Status take(const std::string& text, std::string& value) {
  value = text;
  return {};
}
base::Status take(const std::string& text, int& value) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? base::Status() : no_value(text);
}
base::Status take(const std::string& text, bool& value) {
  value = text == "yes";
  return value || text == "no" ? base::Status() : no_value(text);
}
base::Status take(const std::string& text, std::vector<std::string>& values) {
  values = text.empty() ? std::vector<std::string>() : split(text, ',');
  return {};
}
base::Status take(const std::string& text, std::vector<std::pair<std::string, std::string>>& values) {
  values.clear();
  for (const auto& one : text.empty() ? std::vector<std::string>() : split(text, ',')) {
    const auto names = split(one, '>');
    if (names.size() != 2) return no_value(text);
    values.emplace_back(names[0], names[1]);
  }
  return {};
}
base::Status take(const std::string& text, std::vector<CodeRegion>& values) {
  values.clear();
  for (const auto& one : split(text, ',')) {
    const auto parts = split(one, ':');
    if (parts.size() != 5) return no_value(text);
    CodeRegion& region = values.emplace_back();
    PERDURE_CHECK(take(parts[0], region.id));
    PERDURE_CHECK(take(parts[2], region.count));
    region.name = parts[1];
    region.type = parts[3];
    region.optional = parts[4].find('o') != std::string::npos;
    region.followed = parts[4].find('f') != std::string::npos;
  }
  return {};
}

template <class S, class Visit>
void visit_start(S& start, Visit visit) {
  visit("name", start.name);
  visit("job", start.job);
  visit("case", start.study);
  visit("regions", start.code.regions);
  visit("renamed", start.code.renamed);
  visit("passed_over", start.code.passed_over);
  visit("from", start.from);
  visit("stubborn", start.stubborn);
  visit("refuse", start.refuse);
  visit("writes", start.writes);
  visit("memory", start.memory);
  visit("mode", start.mode);
  visit("supervised", start.supervised);
  visit("computes", start.computes);
  visit("asks", start.asks);
  visit("stop", start.stop);
  visit("after_ms", start.after_ms);
  visit("grace_ms", start.grace_ms);
  visit("end", start.end);
  visit("descriptors", start.descriptors);
  visit("room_kib", start.room_kib);
  visit("machine_lost", start.machine_lost);
}

using Fields = std::vector<std::pair<std::string, std::string>>;
Fields fields_of(const Start& start) {
  Fields fields;
  visit_start(start, [&](const char* name, const auto& value) { fields.emplace_back(name, to_text(value)); });
  return fields;
}

base::Status set_field(Start& start, const std::string& name, const std::string& text) {
  base::Status status = base::fail(PERDURE_INVALID_ARGUMENT, "people", "there is no field '" + name + "'");
  visit_start(start, [&](const char* field, auto& value) {
    if (name == field) status = take(text, value);
  });
  return status;
}

bool one_of(const std::string& text, const std::set<std::string>& words) { return words.contains(text); }

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
}

// The names in one program are all different; other tests cover equal names.
bool is_code(const Code& code) {
  std::set<int> ids;
  std::set<std::string> names;
  std::map<std::string, std::string> renamed;
  for (const CodeRegion& region : code.regions) {
    const bool good = region.id >= 0 && region.id < 1000 && region.count > 0 && region.count <= 10'000 &&
                      one_of(region.type, {"", "i8", "f8"}) && (!region.followed || region.type.empty());
    if (!good || !ids.insert(region.id).second) return false;
    if (!region.name.empty() && !names.insert(region.name).second) return false;
  }
  for (const auto& [before, now] : code.renamed) {
    std::string at = now;
    while (at != before && renamed.contains(at)) at = renamed[at];
    if (at == before) return false;
    renamed[before] = now;
  }
  return !code.regions.empty() && code.regions.size() <= 60;
}

bool is_start(const Start& start) {
  const bool words = one_of(start.memory, {"", "move", "swap", "grow", "shrink", "clear"}) &&
                     one_of(start.mode, {"embedded", "daemon"}) && one_of(start.stop, {"", "term", "kill"}) &&
                     one_of(start.end, {"close", "return", "exit", "quick", "abort"});
  const bool from = one_of(start.from, {"latest", "none", "left"}) || is_number(start.from);
  // A start that computes for ever needs a signal to end it.
  const bool ends = !start.computes || !start.stop.empty();
  return words && from && ends && !start.name.empty() && !start.study.empty() && start.writes >= 0 &&
         start.writes <= 50 && is_code(start.code);
}

/// Makes scenarios with one thing less.
class FewerPeople {
 public:
  explicit FewerPeople(const People& from) : from_(from) {}
  std::vector<People> all() {
    for (std::size_t i = 0; i < from_.starts.size(); ++i) {
      People next = from_;
      next.starts.erase(next.starts.begin() + static_cast<std::ptrdiff_t>(i));
      add(next);
    }
    for (const auto& [name, value] : fields_of(Start{})) plainer_field(name, value);
    for (std::size_t i = 0; i < from_.starts.size(); ++i) plainer_code(i);
    return std::move(found_);
  }

 private:
  void add(const People& people) {
    if (can_be_carried_out(people) && people != from_) found_.push_back(people);
  }
  void plainer_field(const std::string& name, const std::string& value) {
    for (std::size_t i = 0; i < from_.starts.size(); ++i) {
      People next = from_;
      (void)set_field(next.starts[i], name, value);
      add(next);
    }
  }
  void plainer_code(std::size_t start) {
    const Code& code = from_.starts[start].code;
    const auto with = [&](const Code& plainer) {
      People next = from_;
      for (Start& one : next.starts)
        if (one.code == code) one.code = plainer;
      add(next);
    };
    for (std::size_t i = 0; i < code.regions.size(); ++i) {
      Code next = code;
      next.regions.erase(next.regions.begin() + static_cast<std::ptrdiff_t>(i));
      with(next);
    }
    for (std::size_t i = 0; i < code.renamed.size(); ++i) {
      Code next = code;
      next.renamed.erase(next.renamed.begin() + static_cast<std::ptrdiff_t>(i));
      with(next);
    }
  }
  const People& from_;
  std::vector<People> found_;
};

}  // namespace

bool can_be_carried_out(const People& people) {
  return people.keep_last >= 1 && people.keep_last < 100 && !people.starts.empty() && people.starts.size() <= 40 &&
         std::all_of(people.starts.begin(), people.starts.end(), is_start);
}

std::string text_of(const People& people) {
  std::string text = "people keep_last=" + std::to_string(people.keep_last) + "\n";
  const Fields plain = fields_of(Start{});
  for (const Start& start : people.starts) {
    text += "start";
    const Fields fields = fields_of(start);
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i] != plain[i]) text += " " + fields[i].first + "=" + fields[i].second;
    text += "\n";
  }
  return text;
}

base::Result<People> people_from(const std::string& text) {
  People people;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "start") people.starts.emplace_back();
    if (kind != "start" && kind != "people") return base::fail(no_value(line).error());
    for (std::string word; words >> word;) {
      const auto middle = word.find('=');
      const std::string name = word.substr(0, middle),
                        value = middle == std::string::npos ? "" : word.substr(middle + 1);
      if (kind == "start") {
        PERDURE_CHECK(set_field(people.starts.back(), name, value));
        continue;
      }
      if (name != "keep_last") return base::fail(no_value(word).error());
      PERDURE_CHECK(take(value, people.keep_last));
    }
  }
  if (!can_be_carried_out(people)) return base::fail(no_value(text).error());
  return people;
}

std::vector<People> smaller_ones(const People& people) { return FewerPeople(people).all(); }

// The memory changes before the last of the program's own checkpoints.
std::vector<int> counts_at(const Start& start, std::size_t turn) {
  std::vector<int> counts;
  std::vector<std::size_t> followed;
  for (std::size_t i = 0; i < start.code.regions.size(); ++i) {
    counts.push_back(start.code.regions[i].count);
    if (start.code.regions[i].followed) followed.push_back(i);
  }
  const auto writes = static_cast<std::size_t>(start.writes);
  if (followed.empty() || writes == 0 || turn + 1 < writes) return counts;
  int& first = counts[followed[0]];
  if (start.memory == "grow") first *= 3;
  if (start.memory == "shrink") first = 1;
  if (start.memory == "clear") first = 0;
  if (start.memory == "swap" && followed.size() > 1) std::swap(first, counts[followed[1]]);
  return counts;
}

}  // namespace perdure::campaign
