#pragma once
// Every verb shares its streams, its statuses and its enrolment. A new verb is one file, and its declaration and row in
// registry.cpp.
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

/// The exit statuses of every verb; `run` ends with the status of its program instead. They are part of the documented
/// interface.
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
  std::vector<std::string> program = {};   ///< words behind "--" of `run` and `launch`: none of them is ours
  std::vector<std::string> settings = {};  ///< settings of --set, which every verb has; see configuration.hpp
  bool json = false;                       ///< an error is a JSON object on `out`, too
  std::string json_file = {};              ///< file for the JSON of `run` and `launch`, whose `out` is the program's
};

/// The arguments after the verb are parsed when this is called.
using Action = std::function<int(Terminal&)>;

/// Declares the verb's options on `app` and returns its action: each verb's file defines one, and its row names it.
using Enrol = Action(CLI::App& app);

struct Verb {
  const char* name;
  const char* summary;
  Enrol* enrol;
};

const std::vector<Verb>& verbs();
/// Tells whether a program stands behind "--".
inline bool takes_program(std::string_view verb) { return verb == "run" || verb == "launch"; }

/// Runs the whole program: parses `arguments` (without the program's name), does the verb, returns the exit status.
int run_command_line(const std::vector<std::string>& arguments, Terminal& terminal);

/// Prints the error that ends a verb: "perdure: ERROR" on err, and with --json as {"error": ...}. Returns the exit
/// status that fits: kUsage for wrong arguments, kCannot otherwise.
int report(Terminal& terminal, const base::Error& error);
/// Prints only the line on err, for an error that ends nothing.
void warn(Terminal& terminal, const base::Error& error);
/// Prints lines for people, made printable (base/printable.hpp).
void print(std::FILE* file, const std::string& text);
/// Prints our own sequences for the terminal, without any foreign text.
void print_as_it_is(std::FILE* file, const std::string& text);
void print_json(Terminal& terminal, const base::Json& json);
/// Writes into a file, or for "-" to standard output; false, with errno, when that cannot be written.
bool write_json(const base::Json& json, const std::string& path);
base::Json error_json(const base::Error& error);

}  // namespace perdure::cli
