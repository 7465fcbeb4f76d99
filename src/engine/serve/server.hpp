#pragma once
// The engine's event loop: takes what clients send to the handlers (handlers.hpp), and looks again at requests that
// wait (waiting_requests.hpp). It never calls the network, and never waits for anything but events.
#include <atomic>

#include "engine/serve/handlers.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

class Server {
 public:
  Server(Ledger& ledger, Flusher& flusher, Janitor& janitor, Pipeline& pipeline, Reports& reports, os::Fd listener,
         ServerOptions options);
  ~Server() { close(); }
  const base::Status& started() const { return started_; }  ///< its thread; without it nobody is answered
  /// Something changed that waiting requests may be interested in. Any thread.
  void wake() { connections_.wake(); }
  void stop();
  /// Stops, closes listener and connections, and waits for what is carried out in the background.
  void close();
  /// Blocks until a client asked for shutdown, the idle time passed, or stop().
  void wait_until_over() { lifetime_.wait_until_over(); }

 private:
  void run();
  bool failed(const base::Error& why);
  void take(ClientId client, const ipc::Frame& frame);
  void drop_lost();
  void hurry_flushes();
  bool any_write_through();
  Presence presence() const;
  /// Until something has to be done without a message or a call of wake(); nothing: never.
  std::optional<std::uint64_t> poll_timeout_ns();

  ServerOptions options_;
  Connections connections_;
  WaitingRequests waiting_;
  Lifetime lifetime_;
  Background background_;
  RoomLook room_look_;
  ServeContext context_;
  Handlers handlers_;
  std::vector<ClientId> gone_;  // who are not forgotten yet
  bool told_waiting_ = false;   // what the flusher was told last of whether somebody waits
  std::atomic<bool> stopping_ = false;
  base::Status started_;
  os::Thread thread_;
};

}  // namespace perdure::engine
