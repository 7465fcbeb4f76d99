#pragma once
// What the verbs about processes are given.
#include <sys/types.h>

#include <string>

namespace perdure::cli {

/// For CLI::Option::check, after whole_number: whether a process can have this number.
std::string process_number(const std::string& text);
/// Of --force-without: "fd:7"; for CLI::Option::check.
std::string descriptor_text(const std::string& text);
/// 7, of what descriptor_text() took.
int descriptor_of(const std::string& text);
/// A time as people write it: "90", "90s", "10min", "2h"; for CLI::Option::check.
std::string time_text(const std::string& text);
/// In s, of what time_text() took.
double seconds_of(const std::string& text);

/// A program's file, as a name of a checkpoint.
std::string checkpoint_name(const std::string& program);
/// By what a process runs.
std::string name_of_process(pid_t process);

}  // namespace perdure::cli
