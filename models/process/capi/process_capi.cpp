// Implements include/perdure/process.h: turns arguments into words for perdure-process, and its answer into a status.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "perdure/process.h"
#include "process/capi/started_program.hpp"

using perdure::process::HelperAnswer;
using perdure::process::HelperEnd;
using perdure::process::HelperProgram;

namespace {

/// A helper that captures this process is an obstacle to a second one.
std::mutex one_at_a_time;

void tell(const std::string& text, char* target, std::size_t bytes) {
  if (target == nullptr || bytes == 0) return;
  const std::size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

/// Turns the end of the helper and its answer into a status.
perdure_status judge(const HelperProgram& program, const HelperEnd& end, HelperAnswer& answer) {
  answer.text.back() = '\0';
  if (answer.status >= PERDURE_OK && answer.status <= PERDURE_INCOMPLETE)
    return static_cast<perdure_status>(answer.status);
  std::string why = program.path() + ": it ended without an answer";
  if (!end.missing && WIFSIGNALED(end.status)) why += ", by signal " + std::to_string(WTERMSIG(end.status));
  tell(why + " (internal); nothing of the process was changed", answer.text.data(), answer.text.size());
  // It may have been refused access to our memory (ptrace). Then its exit status has at least the code.
  const int code = !end.missing && WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 0;
  return code > PERDURE_OK && code <= PERDURE_INCOMPLETE ? static_cast<perdure_status>(code) : PERDURE_INTERNAL;
}

perdure_status not_started(const HelperProgram& program, HelperAnswer& answer) {
  const bool missing = errno == ENOENT;
  const std::string why = program.path() + ": it cannot be started: " + std::strerror(errno);
  tell(why + (missing ? "; it belongs beside libperdure_process.so" : ""), answer.text.data(), answer.text.size());
  return missing ? PERDURE_NOT_FOUND : PERDURE_UNAVAILABLE;
}

void add(std::vector<std::string>& words, const char* key, const char* value) {
  if (value != nullptr) words.push_back(std::string(key) + "=" + value);
}

std::vector<std::string> words_of(const char* what, const perdure_capture_choices* given) {
  const perdure_capture_choices none{};
  const perdure_capture_choices& choices = given == nullptr ? none : *given;
  std::vector<std::string> words = {std::string("do=") + what};
  add(words, "options", choices.options);
  for (std::size_t i = 0; choices.without != nullptr && i < choices.without_count; ++i)
    words.push_back("without=" + std::to_string(choices.without[i]));
  if (choices.hash_files != 0) words.emplace_back("hash_files=1");
  if (choices.pre_copy != 0) words.emplace_back("pre_copy=1");
  if (choices.increments != 0) words.push_back("increments=" + std::to_string(choices.increments));
  if (choices.stop != 0) words.emplace_back("stop=1");
  return words;
}

/// For calls that do not capture the caller: the answer comes through a pipe.
perdure_status ask(std::vector<std::string> words, HelperAnswer& answer) {
  const std::lock_guard lock(one_at_a_time);
  words.push_back("caller=" + std::to_string(::getpid()));
  HelperProgram program(std::move(words), true);
  if (!program.started()) return not_started(program, answer);
  program.begin_work();
  program.read_answer(answer);
  return judge(program, program.wait(), answer);
}

/// `work` fills in the answer. The text of a failure goes to `message`.
template <class Work>
perdure_status answered(char* message, std::size_t bytes, const Work& work) {
  try {
    const auto answer = std::make_unique<HelperAnswer>();
    const perdure_status status = work(*answer);
    if (status != PERDURE_OK) tell(answer->text.data(), message, bytes);
    return status;
  } catch (const std::bad_alloc&) {
    tell("there is no memory for it (no-space)", message, bytes);
    return PERDURE_NO_SPACE;
  } catch (const std::exception& other) {
    tell(other.what(), message, bytes);
    return PERDURE_INTERNAL;
  }
}

perdure_status refuse(const char* what, char* message, std::size_t bytes) {
  tell(std::string(what) + " is null (invalid-argument)", message, bytes);
  return PERDURE_INVALID_ARGUMENT;
}

}  // namespace

perdure_status perdure_capture_self(const char* name, const perdure_capture_choices* choices, int64_t* version,
                                    int* came_back, char* message, size_t message_bytes) {
  if (name == nullptr) return refuse("name", message, message_bytes);
  if (came_back == nullptr) return refuse("came_back", message, message_bytes);
  return answered(message, message_bytes, [&](HelperAnswer& answer) {
    const std::lock_guard lock(one_at_a_time);
    auto words = words_of("capture", choices);
    const auto self = std::to_string(::getpid());
    words.insert(words.end(), {"process=" + self, "caller=" + self});
    words.push_back("answer=" + std::to_string(reinterpret_cast<std::uintptr_t>(&answer)));
    add(words, "name", name);
    HelperProgram program(std::move(words), false);
    if (!program.started()) return not_started(program, answer);
    program.begin_work();
    const HelperEnd end = program.wait();
    // The resumed process has no children, and its image has no answer yet.
    *came_back = end.missing && answer.status == HelperAnswer::kNothingYet ? 1 : 0;
    const perdure_status status = *came_back != 0 ? PERDURE_OK : judge(program, end, answer);
    if (version != nullptr) *version = answer.version;
    return status;
  });
}

perdure_status perdure_capture_process(int process, const char* name, const perdure_capture_choices* choices,
                                       int64_t* version, char* message, size_t message_bytes) {
  if (name == nullptr) return refuse("name", message, message_bytes);
  return answered(message, message_bytes, [&](HelperAnswer& answer) {
    auto words = words_of("capture", choices);
    words.push_back("process=" + std::to_string(process));
    add(words, "name", name);
    const perdure_status status = ask(std::move(words), answer);
    if (version != nullptr) *version = answer.version;
    return status;
  });
}

perdure_status perdure_resume_process(const char* name, int64_t version, const perdure_resume_choices* choices,
                                      int* process, char* message, size_t message_bytes) {
  if (name == nullptr) return refuse("name", message, message_bytes);
  if (process == nullptr) return refuse("process", message, message_bytes);
  return answered(message, message_bytes, [&](HelperAnswer& answer) {
    std::vector<std::string> words = {"do=resume", "version=" + std::to_string(version)};
    add(words, "name", name);
    if (choices != nullptr) {
      add(words, "options", choices->options);
      add(words, "affinity", choices->affinity);
      if (choices->cut_back_files != 0) words.emplace_back("cut_back_files=1");
      if (choices->again != 0) words.emplace_back("again=1");
      if (choices->name_space != 0) words.emplace_back("name_space=1");
      if (choices->of_others != 0) words.emplace_back("of_others=1");
    }
    const perdure_status status = ask(std::move(words), answer);
    *process = answer.process;
    return status;
  });
}

perdure_status perdure_process_obstacles(int process, const perdure_capture_choices* choices, char* text,
                                         size_t text_bytes, char* message, size_t message_bytes) {
  if (text == nullptr) return refuse("text", message, message_bytes);
  return answered(message, message_bytes, [&](HelperAnswer& answer) {
    auto words = words_of("obstacles", choices);
    words.push_back("process=" + std::to_string(process));
    const perdure_status status = ask(std::move(words), answer);
    tell(status == PERDURE_OK ? answer.text.data() : "", text, text_bytes);
    return status;
  });
}
