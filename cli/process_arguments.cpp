#include "cli/process_arguments.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/configuration.hpp"

namespace perdure::cli {
namespace {

constexpr std::string_view kDescriptor = "fd:";

std::optional<double> parsed_time(const std::string& text) {
  constexpr std::array<std::pair<const char*, double>, 4> kUnits = {{{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0 || !std::isfinite(number)) return {};
  for (const auto& [unit, seconds] : kUnits)
    if (std::string(end) == unit && number > 0 && number * seconds <= 1e9) return number * seconds;
  return {};
}

}  // namespace

std::string process_number(const std::string& text) {
  const long long number = std::atoll(text.c_str());
  if (number >= 1 && number <= std::numeric_limits<pid_t>::max()) return "";
  return "no process has the number '" + text + "'";
}

std::string descriptor_text(const std::string& text) {
  const std::string number = text.substr(std::min(text.size(), kDescriptor.size()));
  if (text.starts_with(kDescriptor) && whole_number(number).empty() && number.size() < 10) return "";
  return "'" + text + "' is not of the form fd:7";
}

int descriptor_of(const std::string& text) { return std::atoi(text.c_str() + kDescriptor.size()); }

std::string time_text(const std::string& text) {
  return parsed_time(text) ? "" : "'" + text + "' is not a time; write 90s, 10min or 2h";
}

double seconds_of(const std::string& text) { return parsed_time(text).value_or(0); }

std::string checkpoint_name(const std::string& program) {
  std::string name = std::filesystem::path(program).filename().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') c = '-';
  return name.empty() ? "process" : name;
}

std::string name_of_process(pid_t process) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", error);
  return error ? "process" : checkpoint_name(program.string());
}

base::Result<process::AffinityChoices> affinity_choices(const std::string& asked, const Terminal& terminal) {
  std::string mode = asked;
  if (mode.empty()) {
    PERDURE_TRY(const auto config, configuration(terminal));
    mode = config.text("affinity");
  }
  return process::AffinityChoices{process::affinity_mode(mode).value_or(process::AffinityMode::keep)};
}

base::Result<bool> records_places(const std::string& asked, const Terminal& terminal) {
  PERDURE_TRY(const auto choices, affinity_choices(asked, terminal));
  return choices.mode != process::AffinityMode::none;
}

std::vector<std::string> settings_with(const std::string& store, const Terminal& terminal) {
  std::vector<std::string> settings = terminal.settings;
  if (!store.empty()) settings.push_back("store.path=" + store);
  return settings;
}

base::Result<std::vector<std::string>> settings_of_resume(const std::string& store, const Terminal& terminal) {
  std::vector<std::string> settings = settings_with(store, terminal);
  PERDURE_TRY(const auto config, configuration(terminal));
  if (config.value("messages").origin == config::Origin::default_value) settings.emplace_back("messages=stderr");
  return settings;
}

base::Status end_all(const process::CaptureReport& report) {
  for (const pid_t one : report.processes)
    if (::kill(one, SIGKILL) != 0)
      return base::fail(base::errno_error(errno, "end it", "process " + std::to_string(one)));
  return {};
}

}  // namespace perdure::cli
