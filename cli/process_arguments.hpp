#pragma once
// What the verbs about processes are given.
#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "process/placement.hpp"
#include "process/process_store.hpp"

namespace perdure::cli {

/// For CLI::Option::check, after whole_number: whether a process can have this number.
std::string process_number(const std::string& text);
/// Of --increments.
inline constexpr unsigned kMostIncrements = 16;
inline constexpr const char* kIncrementsHelp =
    "what an earlier image in the store has is not stored again; images then have pages of this many earlier ones at "
    "most, which the store keeps for them (1 to 16; 0, the default: each image is whole)";
/// Of --cut-back-files.
inline constexpr const char* kCutBackHelp =
    "files that it had open for writing and that have grown get the size they had; what is cut off is kept beside "
    "each as FILE.cut-VERSION";
/// Of --of-others.
inline constexpr const char* kOfOthersHelp =
    "although the image's files belong to another user, or others may write where they are: what these put there then "
    "runs as you";
/// Of --force-without: "fd:7"; for CLI::Option::check.
std::string descriptor_text(const std::string& text);
/// 7, of what descriptor_text() took.
int descriptor_of(const std::string& text);
/// A time as people write it: "90", "90s", "10min", "2h"; for CLI::Option::check.
std::string time_text(const std::string& text);
/// In s, of what time_text() took.
double seconds_of(const std::string& text);

/// Of a resume: as the command line says (empty: nothing), else as configured.
base::Result<process::AffinityChoices> affinity_choices(const std::string& asked, const Terminal& terminal);
/// Whether an image is to say where pages are: not with mode `none`.
base::Result<bool> records_places(const std::string& asked, const Terminal& terminal);
/// What the user has set, and `store`, where it is not empty.
std::vector<std::string> settings_with(const std::string& store, const Terminal& terminal);
/// Of a verb that resumes: `store`, where it is not empty, and what else the user has set, with messages on standard
/// error where nothing is said of them: that it waits for a lease, and for how long.
base::Result<std::vector<std::string>> settings_of_resume(const std::string& store, const Terminal& terminal);

/// Kills all that a capture holds.
base::Status end_all(const process::CaptureReport& report);

/// A program's file, as a name of a checkpoint.
std::string checkpoint_name(const std::string& program);
/// By what a process runs.
std::string name_of_process(pid_t process);

}  // namespace perdure::cli
