// This is the program `perdure`.
#include <unistd.h>

#include <csignal>

#include "cli/verb.hpp"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `perdure ls | head` ends quietly
  perdure::cli::Terminal terminal;
  terminal.live = ::isatty(STDERR_FILENO) == 1;
  return perdure::cli::run_command_line({argv + 1, argv + argc}, terminal);
}
