// Implements a FAKE of SCR for tests. SCR's threads flush; here the flush happens when the program asks whether it is
// over.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fake_files.hpp"
#include "scr.h"

namespace {

using namespace perdure::peers_fakes;

constexpr int kFailure = 1;
enum class State { none, idle, output, restart };

struct FakeScr {
  State state = State::none;
  std::string name;            // of the newest checkpoint
  std::string prefix, cache;   // directories
  std::string source, target;  // of this rank's file
  bool flushed = true, asked = false;
  bool good(bool condition, const char* what) const { return condition || refuse(what); }
};

FakeScr scr;

int outcome(bool good) { return good ? SCR_SUCCESS : kFailure; }

std::string parameter(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The program reads the file itself.
void spoil(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const int first = file.get();
  file.seekp(0);
  file.put(static_cast<char>(first ^ 1));
}

bool flush() {
  if (!scr.flushed) scr.flushed = copy_file(scr.source, scr.target);
  return scr.flushed;
}

}  // namespace

int SCR_Init(void) {
  scr.prefix = parameter("SCR_PREFIX");
  scr.cache = parameter("SCR_CACHE_BASE");
  scr.asked = false;
  const bool behind = parameter("SCR_FLUSH") == "1" && parameter("SCR_FLUSH_ASYNC") == "1";
  const bool cached = parameter("SCR_CACHE_BYPASS") == "0" && parameter("SCR_CACHE_SIZE") == "2";
  const bool places = is_directory(scr.prefix) && is_directory(scr.cache) && is_directory(parameter("SCR_CNTL_BASE"));
  const bool good = scr.state == State::none && behind && cached && places;
  if (good) scr.state = State::idle;
  return outcome(scr.good(good, "SCR_Init: out of turn, or bad parameters"));
}

int SCR_Finalize(void) {
  const bool good = scr.state == State::idle && flush();
  scr.state = State::none;
  return outcome(scr.good(good, "SCR_Finalize out of turn"));
}

int SCR_Start_output(const char* name, int flags) {
  const bool good = scr.state == State::idle && flags == SCR_FLAG_CHECKPOINT && scr.flushed;
  if (!scr.good(good, "SCR_Start_output out of turn")) return kFailure;
  scr.name = name;
  scr.state = State::output;
  return SCR_SUCCESS;
}

int SCR_Route_file(const char* name, char* file) {
  const std::string wanted = name;
  if (!scr.good(scr.state == State::output || scr.state == State::restart, "SCR_Route_file out of turn"))
    return kFailure;
  if (!scr.good(wanted.starts_with(scr.prefix + "/"), "SCR_Route_file: not below the prefix")) return kFailure;
  const std::string folder = scr.cache + "/" + scr.name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  scr.target = wanted;
  scr.source = folder + "/" + std::filesystem::path(wanted).filename().string();
  if (scr.state == State::restart && !std::filesystem::exists(scr.source, error)) return kFailure;
  if (scr.state == State::restart && is_to_spoil()) spoil(scr.source);
  std::strncpy(file, scr.source.c_str(), SCR_MAX_FILENAME - 1);
  file[SCR_MAX_FILENAME - 1] = '\0';
  return SCR_SUCCESS;
}

int SCR_Complete_output(int valid) {
  const bool good = scr.state == State::output && valid == 1;
  scr.state = State::idle;
  scr.flushed = false;
  return outcome(scr.good(good, "SCR_Complete_output out of turn"));
}

int SCR_Have_restart(int* flag, char* name) {
  *flag = scr.name.empty() ? 0 : 1;
  std::strncpy(name, scr.name.c_str(), SCR_MAX_FILENAME - 1);
  scr.asked = true;
  return outcome(scr.good(scr.state == State::idle, "SCR_Have_restart out of turn"));
}

int SCR_Start_restart(char* name) {
  std::strncpy(name, scr.name.c_str(), SCR_MAX_FILENAME - 1);
  const bool good = scr.state == State::idle && scr.asked;
  scr.state = State::restart;
  return outcome(scr.good(good, "SCR_Start_restart out of turn"));
}

int SCR_Complete_restart(int valid) {
  const bool good = scr.state == State::restart && valid == 1;
  scr.state = State::idle;
  return outcome(scr.good(good, "SCR_Complete_restart out of turn"));
}

#ifdef PERDURE_PEERS_OLD_FAKES
extern "C" {
void* scr_cindex = &scr;
int scr_flush_async_waitall(void* index);
}

int scr_flush_async_waitall(void* index) { return outcome(index == &scr && scr.state == State::idle && flush()); }
#else
int SCR_Flushing(const char* name, int* flag) {
  // The first request finds the flush still running.
  *flag = scr.flushed ? 0 : 1;
  const bool good = scr.state == State::idle && scr.name == name && flush();
  return outcome(scr.good(good, "SCR_Flushing out of turn"));
}
#endif
