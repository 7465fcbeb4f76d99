// A program that checkpoints versions 1 to 3 of `run` and ends without closing: leaver DIRECTORY WAY. The store is
// slow, so that it lacks versions when the program ends. The status is 0, or 90 if a check failed.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <perdure/perdure.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

void require(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "leaver: %s\n", what.c_str());
  std::_Exit(90);
}

std::string options(const std::string& at, const std::string& more) {
  return "store.path=" + at + "/store;node.path=" + at + "/node;tier.file.path=" + at +
         "/file;tier.memory.max_bytes=32MiB;tier.file.max_bytes=32MiB;flush.max_bandwidth=2MB;retention.keep_last=5;" +
         more;
}

std::vector<double> field(64 * 1024);  // 512 KiB

void checkpoint_all(perdure_t* handle) {
  require(perdure_protect(handle, 0, field.data(), sizeof(double), field.size()) == PERDURE_OK, "protect");
  for (std::int64_t version = 1; version <= 3; ++version) {
    field[0] = static_cast<double>(version);
    require(perdure_checkpoint(handle, "run", version) == PERDURE_OK, perdure_error_text(handle));
  }
}

perdure_t* only_opened(const std::string& at, const std::string& more = {}) {
  perdure_t* handle = nullptr;
  char message[1024] = "";
  const auto status = perdure_open(options(at, more).c_str(), &handle, message, sizeof message);
  require(status == PERDURE_OK, message);
  return handle;
}

perdure_t* opened(const std::string& at, const std::string& more = {}) {
  perdure_t* handle = only_opened(at, more);
  checkpoint_all(handle);
  return handle;
}

/// A handle that is destroyed after the end of main(). It was closed by then, and its calls say so, unless a call is
/// still running.
struct Global {
  perdure_t* handle = nullptr;
  bool in_use = false;
  ~Global() {
    if (handle == nullptr) return;
    const perdure_status closed = perdure_close(&handle);
    require(closed == (in_use ? PERDURE_BUSY : PERDURE_CLOSED), "how a handle ended is not told");
    if (in_use) return;
    require(std::strstr(perdure_error_text(nullptr), "the end of the program closed it") != nullptr,
            perdure_error_text(nullptr));
  }
} global;

// A group of one rank whose context is a variable of main(). A call may end the program, or never return.
enum class Then { go_on, exit, wait };
std::atomic<bool> group_is_gone{false};
struct Group {
  std::atomic<Then> then{Then::go_on};
  std::atomic<bool> here{false};
  bool lasts = false;
  ~Group() {
    if (!lasts) group_is_gone = true;
  }
};

int meet(void* context) {
  auto& group = *static_cast<Group*>(context);
  require(!group_is_gone, "a communicator was called after its end");
  if (group.then == Then::go_on) return 0;
  group.here = true;
  if (group.then == Then::exit) std::exit(0);
  for (;;) ::pause();
}
int barrier(void* context) { return meet(context); }
int allreduce(void* context, std::uint64_t*, std::size_t, int) { return meet(context); }
int allgather(void* context, const void* mine, std::size_t bytes, void* all) {
  std::memcpy(all, mine, bytes);
  return meet(context);
}
int broadcast(void* context, void*, std::size_t, int) { return meet(context); }
void release(void* context) { (void)meet(context); }

perdure_t* opened_in(Group& group, const std::string& at, const std::string& more = {}) {
  const perdure_communicator own{0, 1, &group, barrier, allreduce, allgather, broadcast, release};
  perdure_t* handle = nullptr;
  char message[1024] = "";
  const auto status = perdure_open_communicator(&own, options(at, more).c_str(), &handle, message, sizeof message);
  require(status == PERDURE_OK, message);
  checkpoint_all(handle);
  return handle;
}

// The end of the child closes no handle of its parent.
void fork_first(perdure_t* handle) {
  const pid_t child = ::fork();
  if (child == 0) std::exit(0);
  int status = -1;
  ::waitpid(child, &status, 0);
  require(status == 0, "the child did not end well");
  require(perdure_wait(handle, "run", 3, PERDURE_LEVEL_STORE, 60) == PERDURE_OK, perdure_error_text(handle));
}

void say(const char* word) {
  std::puts(word);
  std::fflush(stdout);
}

// Acts as a program that asks in every step whether it is to end. It ends with version 4, or 5 if one was asked for
// before.
void until_due(perdure_t* handle) {
  say("ready");
  unsigned reasons = 0;
  for (std::int64_t version = 4; (reasons & PERDURE_DUE_END) == 0;) {
    require(perdure_due(handle, &reasons) == PERDURE_OK, perdure_error_text(handle));
    if (reasons != 0) {
      require(perdure_checkpoint(handle, "run", version++) == PERDURE_OK, perdure_error_text(handle));
      say(reasons == PERDURE_DUE_SIGNAL ? "goes on" : (reasons & PERDURE_DUE_HALT) != 0 ? "halts" : "ends");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // wait: it computes
  }
}

[[noreturn]] void wait_for_the_end() {
  say("ready");
  for (;;) ::pause();
}

constexpr const char* kDaemon = "engine.mode=daemon;engine.idle_exit=1;";

int leave_with_daemon(const std::string& at, const std::string& way) {
  if (way == "daemon_stubborn") std::signal(SIGTERM, SIG_IGN);
  perdure_t* handle = opened(at, way == "daemon_due" ? std::string(kDaemon) + "signals=checkpoint" : kDaemon);
  if (way == "daemon_quick") std::_Exit(0);
  if (way == "daemon_waits" || way == "daemon_stubborn") wait_for_the_end();
  if (way == "daemon_due") until_due(handle);
  return 0;
}

int leave(const std::string& at, const std::string& way) {
  static Group lasting;
  lasting.lasts = true;
  Group group;
  if (way == "return") (void)opened(at);
  if (way == "exit") (void)opened(at), std::exit(0);
  if (way == "thread") std::thread([&] { (void)opened(at), std::exit(0); }).join();
  if (way == "quick") (void)opened(at), std::_Exit(0);
  if (way == "global") global.handle = opened(at);
  if (way == "on_write") (void)opened(at, "capture.mode=cow");
  if (way == "fork") fork_first(opened(at));
  if (way.find("daemon") == 0) return leave_with_daemon(at, way);
  if (way == "full") (void)opened(at, "engine.drain_timeout=0.01;messages=stderr;flush.max_bandwidth=1");
  if (way == "opens") (void)only_opened(at, "flush.max_bandwidth=400KB");
  if (way == "waits") (void)opened(at), wait_for_the_end();
  if (way == "stubborn") std::signal(SIGTERM, SIG_IGN), (void)opened(at), wait_for_the_end();
  if (way == "due") until_due(opened(at, "signals=checkpoint"));
  if (way == "halt") until_due(opened(at));
  if (way == "group") (void)opened_in(group, at);
  const bool destroyed_later = way.find("global_") == 0;
  if (way == "in_call" || way == "global_in_call") {  // as a signal handler that calls exit()
    perdure_t* handle = opened_in(lasting, at);
    global.in_use = true;
    if (destroyed_later) global.handle = handle;
    lasting.then = Then::exit;
    (void)perdure_checkpoint(handle, "run", 4);
    require(false, "exit() returned");
  }
  if (way == "beside_a_call" || way == "global_beside_a_call") {  // as a thread that waits for ranks that are gone
    perdure_t* handle = opened_in(lasting, at);
    global.in_use = true;
    if (destroyed_later) global.handle = handle;
    lasting.then = Then::wait;
    std::thread([handle] { (void)perdure_checkpoint(handle, "run", 4); }).detach();
    while (!lasting.here) std::this_thread::yield();  // wait: until it is within its call
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  require(count == 3, "usage: leaver DIRECTORY WAY");
  return leave(arguments[1], arguments[2]);
}
