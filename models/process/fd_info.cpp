#include "process/fd_info.hpp"

#include <algorithm>

#include "process/fields_of_text.hpp"

namespace perdure::process {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Parses seconds and ns: "(1, 908145599)".
bool parse_time(std::string_view text, std::uint64_t& time) {
  const auto comma = text.find(", ");
  std::uint64_t seconds = 0, rest = 0;
  if (!text.starts_with('(') || !text.ends_with(')') || comma == std::string_view::npos) return false;
  if (!number_of(text.substr(1, comma - 1), seconds) ||
      !number_of(text.substr(comma + 2, text.size() - comma - 3), rest))
    return false;
  if (seconds > INT64_MAX / kSecond - 1 || rest >= kSecond) return false;
  time = seconds * kSecond + rest;
  return true;
}

// Parses "tfd:        7 events: 80000019 data:     deadbeefcafe  pos:0 ino:414 sdev:10".
bool parse_poll_item(std::string_view line, FdInfo& info) {
  const auto words = words_of(line);
  PollItem item;
  if (words.size() < 6 || words[2] != "events:" || words[4] != "data:") return false;
  if (!number_of(words[1], item.number) || !number_of(words[3], item.events, 16) || !number_of(words[5], item.data, 16))
    return false;
  info.poll_items.push_back(item);
  return true;
}

// Parses "lock:   1: POSIX  ADVISORY  WRITE 27198 fe:00:9977939 0 9". The last number may be EOF.
bool parse_lock(std::string_view line, FdInfo& info) {
  const auto words = words_of(line);
  if (words.size() < 9) return false;
  if (words[2] == "LEASE" || words[2] == "DELEG") return info.lease = true;
  FileLock lock;
  lock.exclusive = words[4] == "WRITE";
  lock.kind = words[2] == "POSIX"    ? FileLock::Kind::process
              : words[2] == "OFDLCK" ? FileLock::Kind::open_file
                                     : FileLock::Kind::whole;
  if (lock.kind == FileLock::Kind::whole && words[2] != "FLOCK") return false;
  if (words[4] != "WRITE" && words[4] != "READ") return false;
  std::uint64_t last = 0;
  if (!number_of(words[7], lock.begin)) return false;
  if (words[8] != "EOF") {
    if (!number_of(words[8], last) || last < lock.begin || last > INT64_MAX) return false;
    lock.bytes = last - lock.begin + 1;
  }
  info.locks.push_back(lock);
  return true;
}

/// Parses a line of an eventfd. Returns true for other lines.
bool parse_event(std::string_view key, std::string_view value, FdInfo& info) {
  if (key == "eventfd-count") {
    info.event.emplace();
    return number_of(value, info.event->count, 16);
  }
  if (key == "eventfd-semaphore" && info.event) {
    info.semaphore_known = true;
    info.event->semaphore = value == "1";
    return value == "0" || value == "1";
  }
  return true;
}

bool parse_timer(std::string_view key, std::string_view value, FdInfo& info) {
  if (key == "clockid") {
    info.timer.emplace();
    return number_of(value, info.timer->clock);
  }
  if (!info.timer) return true;
  if (key == "ticks") return number_of(value, info.timer->ticks);
  if (key == "settime flags") return number_of(value, info.timer->set_flags, 8);
  if (key == "it_value") return parse_time(value, info.timer->remaining_ns);
  if (key == "it_interval") return parse_time(value, info.timer->interval_ns);
  return true;
}

bool parse_line(std::string_view line, FdInfo& info) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  const auto key = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (key == "tfd") return parse_poll_item(line, info);
  if (key == "lock") return parse_lock(line, info);
  if (key == "scm_fds") return number_of(value, info.carried_files);
  if (key == "sigmask") return number_of(value, info.signals.emplace().signals, 16);
  return parse_event(key, value, info) && parse_timer(key, value, info);
}

}  // namespace

std::optional<FdInfo> parse_fd_info(std::string_view text) {
  FdInfo info;
  const auto offset = value_of(text, "pos"), flags = value_of(text, "flags");
  if (!offset || !number_of(*offset, info.offset) || !flags || !number_of(*flags, info.flags, 8)) return std::nullopt;
  if (!each_line(text, [&](std::string_view line) { return parse_line(line, info); })) return std::nullopt;
  return info;
}

}  // namespace perdure::process
