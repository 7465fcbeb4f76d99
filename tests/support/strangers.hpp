#pragma once
// Simulates an unauthenticated peer on the network: it opens connections to a port, sends nothing, and reconnects after
// each close.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace perdure::test_support {

/// Returns the addresses where a process accepts TCP connections (IPv4).
inline std::vector<sockaddr_in> listeners_of(int pid) {
  std::set<std::string> sockets;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error))
    sockets.insert(std::filesystem::read_symlink(entry.path(), error).string());
  std::vector<sockaddr_in> found;
  std::ifstream table("/proc/" + std::to_string(pid) + "/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, again, user, timeout, inode;
    fields >> number >> local >> remote >> state >> queues >> timer >> again >> user >> timeout >> inode;
    if (state != "0A" || !sockets.contains("socket:[" + inode + "]")) continue;
    sockaddr_in& at = found.emplace_back();
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = static_cast<in_addr_t>(std::stoul(local.substr(0, 8), nullptr, 16));
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoul(local.substr(9), nullptr, 16)));
  }
  return found;
}

/// Returns the number of a process's open descriptors.
inline std::size_t descriptors_of(int pid) {
  std::error_code error;
  std::size_t count = 0;
  std::filesystem::directory_iterator it("/proc/" + std::to_string(pid) + "/fd", error);
  for (const std::filesystem::directory_iterator end; !error && it != end; it.increment(error)) ++count;
  return count;
}

class Strangers {
 public:
  /// Opens `each` connections to each of these ports.
  Strangers(const std::vector<sockaddr_in>& ports, std::size_t each) {
    for (const auto& port : ports)
      for (std::size_t i = 0; i < each; ++i) to_.push_back(port);
    thread_ = std::thread([this] { run(); });
  }
  ~Strangers() {
    stop_ = true;
    thread_.join();
  }
  /// Returns the number of connections that the other side has closed so far.
  std::size_t turned_away() const { return turned_away_; }

 private:
  static int connect_to(const sockaddr_in& at) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    return fd;
  }
  void run() {
    std::vector<pollfd> all;
    for (const auto& at : to_) all.push_back({connect_to(at), POLLIN, 0});
    while (!stop_) {
      ::poll(all.data(), all.size(), 10);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].fd >= 0 && (all[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
        if (all[i].fd >= 0) ++turned_away_;
        ::close(all[i].fd);
        all[i].fd = connect_to(to_[i]);
      }
    }
    for (const auto& one : all) ::close(one.fd);
  }

  std::vector<sockaddr_in> to_;
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> turned_away_{0};
  std::thread thread_;
};

}  // namespace perdure::test_support
