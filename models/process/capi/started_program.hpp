#pragma once
// Runs the program perdure-process as a child of a process that it may capture. That process has no other code of
// Perdure, so this file uses nothing of the rest of the library.
#include <sys/types.h>

#include <string>
#include <vector>

#include "perdure/perdure.h"
#include "process/capi/answer.hpp"

namespace perdure::process {

/// How the helper ended.
struct HelperEnd {
  bool missing = false;  ///< there is no such child: this is the resumed process
  int status = 0;        ///< as waitpid returns it
};

class HelperProgram {
 public:
  /// `words`: "key=value". The program starts to work at begin_work(). If it cannot be started, `process_` stays 0 and
  /// errno has the cause.
  HelperProgram(std::vector<std::string> words, bool answers_by_pipe);
  ~HelperProgram();
  HelperProgram(const HelperProgram&) = delete;
  HelperProgram& operator=(const HelperProgram&) = delete;
  bool started() const { return process_ > 0; }
  const std::string& path() const { return path_; }
  /// Lets the helper trace us, and closes all of our descriptors of it except the one for its answer.
  void begin_work();
  /// Reads the answer from the pipe.
  void read_answer(HelperAnswer& answer);
  HelperEnd wait();

 private:
  std::string path_;
  pid_t process_ = 0;
  int go_ = -1, answer_ = -1;
};

}  // namespace perdure::process
