#include "hosts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace perdure::test_support {
namespace {

/// Holds its own namespaces until it is killed; reports through `told` whether it could make them.
[[noreturn]] void hold_namespaces(const std::string& name, int told, int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int error = ::getppid() == parent ? 0 : ESRCH;
  if (error == 0 && ::unshare(CLONE_NEWNET | (name.empty() ? 0 : CLONE_NEWUTS)) != 0) error = errno;
  if (error == 0 && !name.empty() && ::sethostname(name.c_str(), name.size()) != 0) error = errno;
  if (::write(told, &error, sizeof error) != sizeof error || error != 0) ::_exit(1);
  for (;;) ::pause();
}

int open_namespace(int pid, const char* kind) {
  return ::open(("/proc/" + std::to_string(pid) + "/ns/" + kind).c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

std::string Hosts::address(int host) { return "10.77.0." + std::to_string(host + 1); }
std::string Hosts::host_name(int host) { return "perdure-test-host-" + std::to_string(host); }

std::unique_ptr<Hosts> Hosts::make(int count, bool own_names, std::string& why_not) {
  auto hosts = std::unique_ptr<Hosts>(new Hosts);
  bool made = hosts->hold("", why_not);
  for (int host = 0; host < count && made; ++host) made = hosts->hold(own_names ? host_name(host) : "", why_not);
  if (!made || !hosts->plug_in(count, why_not)) return nullptr;
  return hosts;
}

Hosts::~Hosts() {
  for (const Holder& holder : holders_) {
    if (holder.network >= 0) ::close(holder.network);
    if (holder.name >= 0) ::close(holder.name);
    ::kill(holder.pid, SIGKILL);
    ::waitpid(holder.pid, nullptr, 0);
  }
}

bool Hosts::hold(const std::string& name, std::string& why_not) {
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) return false;
  const int parent = ::getpid(), pid = ::fork();
  if (pid == 0) hold_namespaces(name, told[1], parent);
  ::close(told[1]);
  int error = pid < 0 ? errno : EPIPE;
  if (pid > 0 && ::read(told[0], &error, sizeof error) != sizeof error) error = EPIPE;
  ::close(told[0]);
  if (pid > 0) holders_.push_back({pid, open_namespace(pid, "net"), open_namespace(pid, "uts")});
  if (error != 0) why_not = std::string("a network namespace cannot be made here: ") + std::strerror(error);
  return error == 0;
}

bool Hosts::plug_in(int count, std::string& why_not) const {
  bool done = ip(holders_[0], "link add switch type bridge") && ip(holders_[0], "link set switch up");
  for (int host = 0; host < count && done; ++host) {
    const Holder& holder = holders_[static_cast<std::size_t>(host) + 1];
    const std::string port = "port" + std::to_string(host);
    done = ip(holders_[0], "link add " + port + " type veth peer name eth0 netns " + std::to_string(holder.pid)) &&
           ip(holders_[0], "link set " + port + " master switch up") && ip(holder, "link set lo up") &&
           ip(holder, "addr add " + address(host) + "/24 dev eth0") && ip(holder, "link set eth0 up");
  }
  if (!done) why_not = "the program ip is missing, or cannot make a bridge with virtual cables here";
  return done;
}

void Hosts::enter(int host) const {
  const Holder& holder = holders_[static_cast<std::size_t>(host) + 1];
  if (::setns(holder.network, CLONE_NEWNET) == 0 && ::setns(holder.name, CLONE_NEWUTS) == 0) return;
  std::perror("setns");
  ::_exit(96);
}

bool Hosts::set_link(int host, bool up) const {
  return ip(holders_[0], "link set port" + std::to_string(host) + (up ? " up" : " down"));
}

bool Hosts::ip(const Holder& where, const std::string& arguments) {
  const int pid = ::fork();
  if (pid == 0) {
    if (::setns(where.network, CLONE_NEWNET) == 0)
      ::execl("/bin/sh", "sh", "-c", ("PATH=$PATH:/sbin:/usr/sbin exec ip " + arguments).c_str(), nullptr);
    ::_exit(127);
  }
  int status = 1;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
}

std::uint64_t Hosts::bytes_received() {
  std::ifstream devices("/proc/self/net/dev");
  std::uint64_t bytes = 0;
  for (std::string line; std::getline(devices, line);)
    if (const auto at = line.find("eth0:"); at != std::string::npos) bytes = std::stoull(line.substr(at + 5));
  return bytes;
}

}  // namespace perdure::test_support
