#pragma once
// The program perdure-process as a child of a process that may be captured by it. Nothing of Perdure but this is in
// that process, and nothing of it may rely on the rest of the library: it stands alone.
#include <sys/types.h>

#include <string>
#include <vector>

#include "perdure/perdure.h"
#include "process/capi/answer.hpp"

namespace perdure::process {

/// What came of it for who waits.
struct HelperEnd {
  bool missing = false;  ///< there is no such child: this is the process that was brought back
  int status = 0;        ///< as waitpid has it
};

class HelperProgram {
 public:
  /// `words`: "key=value". The program begins when begin_work() is called. `process_` stays 0 when it cannot be
  /// started: errno says why.
  HelperProgram(std::vector<std::string> words, bool answers_by_pipe);
  ~HelperProgram();
  HelperProgram(const HelperProgram&) = delete;
  HelperProgram& operator=(const HelperProgram&) = delete;
  bool started() const { return process_ > 0; }
  const std::string& path() const { return path_; }
  /// It may trace us from now on, and we have no descriptor of it any more but that of its answer.
  void begin_work();
  /// What came by the pipe.
  void read_answer(HelperAnswer& answer);
  HelperEnd wait();

 private:
  std::string path_;
  pid_t process_ = 0;
  int go_ = -1, answer_ = -1;
};

}  // namespace perdure::process
