#pragma once
// What every verb shares: where it writes, how it ends, how it is enrolled. A new verb is one file, and its declaration
// and row in registry.cpp.
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cbor.hpp"
#include "base/result.hpp"
#include "cli/libraries.hpp"

namespace CLI {
class App;
}

namespace perdure::cli {

/// Exit statuses of every verb; `run` ends with the status of its program instead. Part of the documented interface.
enum Exit : int {
  kGood = 0,
  kBad = 1,     ///< the answer is bad: defects found, a problem with this machine
  kUsage = 2,   ///< wrong usage
  kCannot = 3,  ///< it could not be found out or done
};

struct Terminal {
  std::FILE* out = stdout;                 ///< answers: tables or one JSON value
  std::FILE* err = stderr;                 ///< errors and progress
  bool live = false;                       ///< err is a terminal that can redraw a line
  std::vector<std::string> program = {};   ///< what stands behind "--" of `run` and `launch`: nothing of ours
  std::vector<std::string> settings = {};  ///< of --set, which every verb has; see configuration.hpp
  bool json = false;                       ///< an error is a JSON object on `out`, too
  std::string json_file = {};              ///< `run` and `launch`, whose `out` is the program's: it is in this file
};

/// The arguments after the verb are parsed when this is called.
using Action = std::function<int(Terminal&)>;

/// Declares the verb's options on `app` and returns what to do: what the file of a verb has, and its row names.
using Enrol = Action(CLI::App& app);

struct Verb {
  const char* name;
  const char* summary;
  Enrol* enrol;
};

const std::vector<Verb>& verbs();
/// Whether a program stands behind "--".
inline bool takes_program(std::string_view verb) { return verb == "run" || verb == "launch"; }

/// The whole program: parses `arguments` (without the program's name), does what they say, returns the exit status.
int run_command_line(const std::vector<std::string>& arguments, Terminal& terminal);

/// The error that ends a verb: "perdure: ERROR" on err, and with --json as {"error": ...}. The exit status that fits:
/// kUsage for wrong arguments, kCannot otherwise.
int report(Terminal& terminal, const base::Error& error);
/// Only the line on err, for an error that ends nothing.
void warn(Terminal& terminal, const base::Error& error);
/// Lines for people, made printable (base/printable.hpp).
void print(std::FILE* file, const std::string& text);
/// Our own sequences for the terminal, with nothing in them that came from elsewhere.
void print_as_it_is(std::FILE* file, const std::string& text);
void print_json(Terminal& terminal, const base::Json& json);
/// Into a file, or for "-" to standard output; false, with errno, when that cannot be written.
bool write_json(const base::Json& json, const std::string& path);
base::Json error_json(const base::Error& error);

}  // namespace perdure::cli
