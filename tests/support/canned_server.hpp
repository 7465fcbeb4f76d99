#pragma once
// An HTTP server for tests that records each request and gives the answers that it was told, one after the other.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/guarded.hpp"

namespace perdure::test_support {

class CannedServer {
 public:
  /// `answers`: status and what follows, "200 OK\r\nname: value\r\n\r\nbody". The last one is repeated.
  explicit CannedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, plain, size) != 0 || ::listen(listener_, 16) != 0) std::abort();
    if (::getsockname(listener_, plain, &size) != 0) std::abort();
    endpoint_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~CannedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  /// The requests up to now, without their bodies.
  std::vector<std::string> requests() {
    const auto requests = requests_.lock();
    return *requests;
  }

 private:
  void serve() {
    for (;;) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);  // wait: the destructor ends it
      if (connection < 0) return;
      std::string head;
      for (char byte = 0; !head.ends_with("\r\n\r\n") && ::recv(connection, &byte, 1, 0) == 1;) head += byte;
      std::string answer;
      {
        const auto requests = requests_.lock();
        answer = "HTTP/1.1 " + answers_[std::min(requests->size(), answers_.size() - 1)];
        answer.insert(answer.find('\n') + 1, "connection: close\r\n");
        requests->push_back(head);
      }
      (void)::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::shutdown(connection, SHUT_WR);
      for (char rest[4096]; ::recv(connection, rest, sizeof(rest), 0) > 0;) {  // wait: the client closes
      }
      ::close(connection);
    }
  }

  const std::vector<std::string> answers_;
  int listener_ = -1;
  std::string endpoint_;
  base::Guarded<std::vector<std::string>> requests_;
  std::thread thread_;
};

}  // namespace perdure::test_support
