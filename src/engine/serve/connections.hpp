#pragma once
// The sockets of an engine: who is connected, the frames that come, the bytes that go. It knows nothing of what they
// say. One thread, but for wake().
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "engine/ledger/ledger.hpp"
#include "ipc/frame.hpp"
#include "os/readiness.hpp"
#include "os/socket.hpp"

namespace perdure::engine {

class Connections {
 public:
  /// `take` is called with every frame that comes, on the thread that calls wait().
  Connections(os::Fd listener, Reports& reports, std::function<void(ClientId, const ipc::Frame&)> take);
  /// Waits for events, at most so long, and handles them: accepts, takes frames, sends what could not be sent before.
  const base::Status& started() const { return started_; }  ///< without its descriptors nobody is answered
  base::Status wait(std::optional<std::uint64_t> timeout_ns);
  /// Ends a wait(). Any thread.
  void wake();
  /// `append(bytes)` appends whole frames, which are sent as far as the client takes them now. Nothing for a client
  /// that is gone, or that has left so much unread that it is lost.
  template <class Append>
  void send(ClientId id, Append&& append) {
    Connection* connection = writable(id);
    if (connection == nullptr) return;
    try {
      append(connection->outbox);
      push(id, *connection);
    } catch (...) {  // half a frame says nothing any more
      lose(*connection);
      throw;
    }
  }
  /// The client is served no more; drop_lost() closes its connection.
  void lose(ClientId id);
  /// Closes the connections that ended or were lost, and appends whose they were: all of them, or none where there is
  /// no memory for that.
  void drop_lost(std::vector<ClientId>& dropped);
  bool has(ClientId id) const;  ///< and it is not lost
  std::size_t count() const { return connections_.size(); }
  void close();

 private:
  struct Connection {
    os::Fd socket;
    ipc::Decoder decoder;
    std::vector<std::byte> outbox;
    bool unsent = false;  // there is something in the outbox, and readiness_ knows
    bool lost = false;
    bool heard = false;  // a whole frame came
  };
  void handle(const os::Readiness::Event& event);
  void accept_all();
  void lose_who_says_nothing();
  void turn_away(const base::Error& why);
  base::Status keep_one_back();
  void receive(ClientId id, Connection& connection);
  Connection* writable(ClientId id);
  void push(ClientId id, Connection& connection);
  void lose(Connection& connection) { connection.lost = some_lost_ = true; }

  os::Fd listener_;
  os::Fd wake_fd_;
  os::Fd reserve_;  ///< given up to accept, and to close at once, what there is no descriptor for
  base::Status started_;
  os::Readiness readiness_;
  Reports& reports_;
  std::function<void(ClientId, const ipc::Frame&)> take_;
  std::map<ClientId, Connection> connections_;
  bool some_lost_ = false;  // so that nobody has to look at all of them
  ClientId next_ = 1;
  std::deque<std::pair<ClientId, std::uint64_t>> newcomers_;  // until when they have to be heard, soonest first
};

}  // namespace perdure::engine
