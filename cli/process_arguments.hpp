#pragma once
// The verbs about processes share these arguments.
#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "process/placement.hpp"
#include "process/process_store.hpp"

namespace perdure::cli {

/// Checks whether a process can have this number, for CLI::Option::check after whole_number.
std::string process_number(const std::string& text);
/// The most that --increments takes.
inline constexpr unsigned kMostIncrements = 16;
inline constexpr const char* kIncrementsHelp =
    "what an earlier image in the store has is not stored again; images then have pages of this many earlier ones at "
    "most, which the store keeps for them (1 to 16; 0, the default: each image is whole)";
/// The help of --cut-back-files.
inline constexpr const char* kCutBackHelp =
    "files that it had open for writing and that have grown get the size they had; what is cut off is kept beside "
    "each as FILE.cut-VERSION";
/// The help of --of-others.
inline constexpr const char* kOfOthersHelp =
    "although the image's files belong to another user, or others may write where they are: what these put there then "
    "runs as you";
/// Checks the value of --force-without: "fd:7"; for CLI::Option::check.
std::string descriptor_text(const std::string& text);
/// Gives 7 for a text that descriptor_text() accepted.
int descriptor_of(const std::string& text);
/// Checks a time as people write it: "90", "90s", "10min", "2h"; for CLI::Option::check.
std::string time_text(const std::string& text);
/// Gives the seconds of a text that time_text() accepted.
double seconds_of(const std::string& text);

/// Gives the choices for a resume: from the command line (`asked`), or if that is empty as configured.
base::Result<process::AffinityChoices> affinity_choices(const std::string& asked, const Terminal& terminal);
/// Tells whether an image is to say where pages are: not with mode `none`.
base::Result<bool> records_places(const std::string& asked, const Terminal& terminal);
/// Gives the user's settings, with `store` if it is not empty.
std::vector<std::string> settings_with(const std::string& store, const Terminal& terminal);
/// Gives the settings of a verb that resumes: the user's, with `store` if it is not empty. If they say nothing of
/// messages, these go to standard error: the verb waits for a lease, and for how long.
base::Result<std::vector<std::string>> settings_of_resume(const std::string& store, const Terminal& terminal);

/// Kills all processes that a capture holds.
base::Status end_all(const process::CaptureReport& report);

/// Makes a checkpoint's name from a program's file.
std::string checkpoint_name(const std::string& program);
/// Makes it from the program that a process runs.
std::string name_of_process(pid_t process);

}  // namespace perdure::cli
