#include "os/fault_rules.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <sstream>

#include "os/system.hpp"

namespace perdure::os {
namespace {

constexpr const char* kRulesVariable = "PERDURE_TEST_FAULTS";
constexpr std::uint64_t kNsPerMs = 1'000'000;

struct ErrnoName {
  std::string_view name;
  int number;
};
constexpr int kThrows = -1;  // stands for refused memory: std::bad_alloc
constexpr std::array kErrnoNames = {
    ErrnoName{"BAD_ALLOC", kThrows},
    ErrnoName{"EIO", EIO},
    ErrnoName{"ENOSPC", ENOSPC},
    ErrnoName{"EDQUOT", EDQUOT},
    ErrnoName{"EACCES", EACCES},
    ErrnoName{"EPERM", EPERM},
    ErrnoName{"EROFS", EROFS},
    ErrnoName{"ENOENT", ENOENT},
    ErrnoName{"ESTALE", ESTALE},
    ErrnoName{"EAGAIN", EAGAIN},
    ErrnoName{"EINTR", EINTR},
    ErrnoName{"ENOMEM", ENOMEM},
    ErrnoName{"EMFILE", EMFILE},
    ErrnoName{"ENFILE", ENFILE},
    ErrnoName{"EBUSY", EBUSY},
    ErrnoName{"ETIMEDOUT", ETIMEDOUT},
    ErrnoName{"ENOTCONN", ENOTCONN},
    ErrnoName{"ECONNREFUSED", ECONNREFUSED},
    ErrnoName{"ECONNRESET", ECONNRESET},
    ErrnoName{"EPIPE", EPIPE},
    ErrnoName{"EINVAL", EINVAL},
    ErrnoName{"EEXIST", EEXIST},
    ErrnoName{"EFAULT", EFAULT},
    ErrnoName{"EOPNOTSUPP", EOPNOTSUPP},
    ErrnoName{"ENOTSUPP", 524},
    ErrnoName{"ENOSYS", ENOSYS},
    ErrnoName{"ELOOP", ELOOP},
    ErrnoName{"ENOTDIR", ENOTDIR},
    ErrnoName{"EISDIR", EISDIR},
    ErrnoName{"EFBIG", EFBIG},
    ErrnoName{"ENAMETOOLONG", ENAMETOOLONG},
    ErrnoName{"EREMOTEIO", EREMOTEIO},
};

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find_first_of(separators);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> errno_number(std::string_view name) {
  for (const ErrnoName& known : kErrnoNames)
    if (known.name == name) return known.number;
  return std::nullopt;
}

tl::unexpected<base::Error> mistake(std::string_view rule, const char* cause) {
  return base::fail(PERDURE_INVALID_ARGUMENT, "fault rule '" + std::string(rule) + "'", cause,
                    "write CALL:PATH:ERRNO[:FROM[:COUNT]], slow:PATH:MILLISECONDS or short:PATH:BYTES");
}

base::Result<FaultRule> parse_rule(std::string_view text) {
  const std::vector<std::string> parts = split(text, ":");
  if (parts.size() < 3 || parts[0].empty()) return mistake(text, "has too few parts");
  FaultRule rule{.call = parts[0], .path = parts[1]};
  if (rule.call == "slow") {
    const auto delay = number(parts[2]);
    if (!delay || parts.size() > 3) return mistake(text, "needs one number of milliseconds");
    rule.delay_ms = *delay;
    return rule;
  }
  if (rule.call == "short") {
    const auto most = number(parts[2]);
    if (!most || *most == 0 || parts.size() > 3) return mistake(text, "needs one number of bytes, at least 1");
    rule.most_bytes = *most;
    return rule;
  }
  const auto error_number = errno_number(parts[2]);
  if (!error_number) return mistake(text, "names an unknown error");
  rule.error_number = *error_number;
  const auto from = parts.size() > 3 ? number(parts[3]) : 1;
  const auto count = parts.size() > 4 ? number(parts[4]) : 0;
  if (!from || *from == 0 || !count || parts.size() > 5) return mistake(text, "has a wrong count");
  rule.from = *from;
  rule.count = *count;
  return rule;
}

bool is_about(const FaultRule& rule, const Operation& operation) {
  return operation.path.find(rule.path) != std::string::npos ||
         (!operation.new_path.empty() && operation.new_path.find(rule.path) != std::string::npos);
}

bool matches(const FaultRule& rule, const Operation& operation) {
  const bool call = rule.delay_ms > 0 || rule.call == "*" || rule.call == operation.call;
  return call && is_about(rule, operation);
}

base::Status install(const std::string& value) {
  if (value.starts_with('@')) {
    install_hooks(FaultRules::watching(value.substr(1)));
    return {};
  }
  PERDURE_TRY(std::vector<FaultRule> rules, parse_fault_rules(value));
  // Never deleted: other threads may ask it until the process ends.
  static FaultRules* installed = new FaultRules(std::move(rules));
  install_hooks(installed);
  return {};
}

}  // namespace

base::Result<std::vector<FaultRule>> parse_fault_rules(std::string_view text) {
  std::vector<FaultRule> rules;
  for (const std::string& line : split(text, "\n")) {
    for (const std::string& part : split(std::string_view(line).substr(0, line.find('#')), ";")) {
      if (trimmed(part).empty()) continue;
      PERDURE_TRY(FaultRule rule, parse_rule(trimmed(part)));
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

FaultRules::FaultRules(std::vector<FaultRule> rules) { set_rules(std::move(rules)); }

FaultRules* FaultRules::watching(std::string file) {
  auto* rules = new FaultRules({});
  rules->file_ = std::move(file);
  return rules;
}

void FaultRules::set_rules(std::vector<FaultRule> rules) {
  rules_ = std::move(rules);
  matches_.assign(rules_.size(), 0);
}

// Makes plain calls instead of those of file.hpp, which would ask the hooks.
void FaultRules::reload_if_changed() {
  struct stat facts {};
  Stamp now;
  if (::stat(file_.c_str(), &facts) == 0)
    now = {facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
           facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
  if (now == stamp_) return;
  stamp_ = now;
  std::ostringstream text;
  if (std::ifstream file(file_); file) text << file.rdbuf();
  if (auto rules = parse_fault_rules(text.str())) set_rules(std::move(*rules));
}

int FaultRules::before(const Operation& operation) {
  int error_number = 0;
  std::uint64_t delay_ms = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!file_.empty()) reload_if_changed();
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const FaultRule& rule = rules_[i];
      if (!matches(rule, operation)) continue;
      const std::uint64_t hit = ++matches_[i];
      delay_ms += rule.delay_ms;
      const bool applies = hit >= rule.from && (rule.count == 0 || hit - rule.from < rule.count);
      if (applies && error_number == 0) error_number = rule.error_number;
    }
  }
  if (delay_ms > 0) sleep_ns(delay_ms * kNsPerMs);
  if (error_number == kThrows) throw std::bad_alloc();
  return error_number;
}

std::size_t FaultRules::most(const Operation& operation, std::size_t asked) {
  const std::lock_guard lock(mutex_);
  for (const FaultRule& rule : rules_)
    if (rule.most_bytes > 0 && is_about(rule, operation)) asked = std::min<std::size_t>(asked, rule.most_bytes);
  return asked;
}

base::Status install_faults_from_environment() {
  static std::mutex mutex;
  static bool done = false;
  const char* value = std::getenv(kRulesVariable);
  const std::lock_guard lock(mutex);
  if (done || value == nullptr || *value == '\0') return {};
  PERDURE_CHECK(install(value));
  done = true;
  return {};
}

}  // namespace perdure::os
