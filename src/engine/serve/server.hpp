#pragma once
// Runs the engine's event loop: passes client requests to the handlers (handlers.hpp), and looks again at requests that
// wait (waiting_requests.hpp). It never calls the network, and waits for events only.
#include <atomic>

#include "engine/serve/handlers.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

class Server {
 public:
  Server(Ledger& ledger, Flusher& flusher, Janitor& janitor, Pipeline& pipeline, Reports& reports, os::Fd listener,
         ServerOptions options);
  ~Server() { close(); }
  const base::Status& started() const { return started_; }  ///< of its thread; without the thread no client is answered
  /// The state changed in a way that may matter to waiting requests. Any thread may call it.
  void wake() { connections_.wake(); }
  void stop();
  /// Stops, closes listener and connections, and waits for background jobs.
  void close();
  /// Blocks until a client asked for shutdown, the idle time passed, or stop() was called.
  void wait_until_over() { lifetime_.wait_until_over(); }

 private:
  void run();
  bool failed(const base::Error& why);
  void take(ClientId client, const ipc::Frame& frame);
  void drop_lost();
  void hurry_flushes();
  bool any_write_through();
  Presence presence() const;
  /// Returns the time until work is due without a message or a call of wake(); nullopt: never.
  std::optional<std::uint64_t> poll_timeout_ns();

  ServerOptions options_;
  Connections connections_;
  WaitingRequests waiting_;
  Lifetime lifetime_;
  Background background_;
  RoomLook room_look_;
  ServeContext context_;
  Handlers handlers_;
  std::vector<ClientId> gone_;  // clients that are not forgotten yet
  bool told_waiting_ = false;   // the last value passed to Flusher::somebody_waits
  std::atomic<bool> stopping_ = false;
  base::Status started_;
  os::Thread thread_;
};

}  // namespace perdure::engine
