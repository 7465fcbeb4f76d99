#pragma once
// Manages an engine's sockets: connected clients, frames that arrive, bytes to send. It does not interpret frames. All
// functions but wake() are called by one thread.
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
  /// Calls `take` with every frame that arrives, on the thread that calls wait().
  Connections(os::Fd listener, Reports& reports, std::function<void(ClientId, const ipc::Frame&)> take);
  const base::Status& started() const { return started_; }  ///< if its descriptors are missing, no client is answered
  /// Waits at most `timeout_ns` for events and handles them: accepts, takes frames, sends the bytes that remained.
  base::Status wait(std::optional<std::uint64_t> timeout_ns);
  /// Ends a wait(). Any thread may call it.
  void wake();
  /// `append(bytes)` appends whole frames, which are sent as far as the client takes them now. No effect if the client
  /// is gone, or is lost because it left too much unread.
  template <class Append>
  void send(ClientId id, Append&& append) {
    Connection* connection = writable(id);
    if (connection == nullptr) return;
    try {
      append(connection->outbox);
      push(id, *connection);
    } catch (...) {  // half a frame would be useless
      lose(*connection);
      throw;
    }
  }
  /// Serves the client no more; drop_lost() closes its connection.
  void lose(ClientId id);
  /// Closes the connections that ended or were lost, and appends their clients. If memory for that is lacking, it
  /// closes none.
  void drop_lost(std::vector<ClientId>& dropped);
  bool has(ClientId id) const;  ///< connected and not lost
  std::size_t count() const { return connections_.size(); }
  void close();

 private:
  struct Connection {
    os::Fd socket;
    ipc::Decoder decoder;
    std::vector<std::byte> outbox;
    bool unsent = false;  // the outbox has bytes, and readiness_ knows
    bool lost = false;
    bool heard = false;  // a whole frame has arrived
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
  /// A spare descriptor. It is given up to accept a connection that there is no descriptor for, and to close it at
  /// once.
  os::Fd reserve_;
  base::Status started_;
  os::Readiness readiness_;
  Reports& reports_;
  std::function<void(ClientId, const ipc::Frame&)> take_;
  std::map<ClientId, Connection> connections_;
  bool some_lost_ = false;  // so that most calls need not look at all connections
  ClientId next_ = 1;
  // with the time until which each must send a frame, soonest first
  std::deque<std::pair<ClientId, std::uint64_t>> newcomers_;
};

}  // namespace perdure::engine
