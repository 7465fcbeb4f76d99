#pragma once
// The engine's event loop: connections, frames, requests, and the answers that have to wait.
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "engine/core.hpp"
#include "engine/exporter.hpp"
#include "engine/wait_reasons.hpp"
#include "ipc/channel.hpp"
#include "os/readiness.hpp"

namespace perdure::engine {

class Flusher;
class Janitor;
class NodeGroup;
struct RecoveredRank;

struct ServerOptions {
  std::string fingerprint;
  std::uint64_t chunk_bytes = 0;   ///< told to clients
  std::uint64_t idle_exit_ns = 0;  ///< 0: never
  NodeGroup* group = nullptr;      ///< outlives the server; nullptr: nothing is kept for other nodes
  Identity identity = {};
};

class Server {
 public:
  Server(Core& core, std::mutex& lock, Flusher& flusher, Janitor& janitor, Reports& reports, os::Fd listener,
         ServerOptions options);
  ~Server() { stop(); }
  /// Something changed that waiting requests may be interested in. Any thread.
  void wake();
  void stop();
  /// Stops, and closes listener and connections.
  void close();
  /// Blocks until a client asked for shutdown, the idle time passed, or stop().
  void wait_until_over();

 private:
  struct Client {
    os::Fd socket;
    ipc::Decoder decoder;
    std::vector<std::byte> outbox;
    bool unsent = false;  // there is something in the outbox, and readiness_ knows
    std::uint32_t rank = 0;
    bool greeted = false;
    bool looks_only = false;  // a tool
    bool dead = false;
    bool is_rank() const { return greeted && !looks_only; }
  };
  struct Waiting {
    ClientId client = 0;
    std::uint64_t sequence = 0;
    std::uint64_t deadline_ns = 0;  // 0: none
    std::uint64_t since_ns = 0;
    ipc::Request request;
  };

  void run();
  void handle_event(const os::Readiness::Event& event);
  void accept_all();
  void serve(ClientId id);
  void handle(ClientId id, const base::Json& message);
  /// The reply, or nothing when the request has to wait.
  std::optional<base::Json> answer(ClientId id, const ipc::Request& request, bool timed_out);
  std::optional<base::Json> answer_waiting(ClientId id, const ipc::Request& request, bool timed_out);
  base::Json answer_hello(ClientId id, const ipc::Hello& hello);
  base::Json answer_locate(ClientId id, const ipc::Locate& locate);
  base::Json answer_inventory(const ipc::Inventory& inventory);
  base::Json answer_progress();
  base::Json answer_top();
  base::Json answer_metrics();
  void note_wait(const Waiting& waiting);
  base::Json queue();                                                               // with the lock held
  WaitReason why_waits(const Waiting& waiting, std::optional<std::uint32_t> head);  // the same
  std::optional<base::Json> answer_grant(ClientId id, const ipc::Grant& grant, bool timed_out);
  std::optional<base::Json> answer_written(ClientId id, const ipc::Written& written);
  std::optional<base::Json> answer_wait_stored(const ipc::WaitStored& wait, bool timed_out);
  std::optional<base::Json> answer_drain(bool timed_out);
  /// Handles the requests about other nodes (group_answers.cpp); nothing for any other request.
  std::optional<base::Json> answer_for_group(ClientId id, const ipc::Request& request);
  base::Json answer_open_network(ClientId id, const ipc::OpenNetwork& open);
  std::optional<base::Json> answer_wait_protected(const ipc::WaitProtected& wait, bool timed_out);
  std::optional<base::Json> answer_recover(ClientId id, const ipc::Recover& recover);
  void count_recovery(const base::Result<std::vector<RecoveredRank>>& result);
  void add_kept_at_servers(const std::string& name, base::Json& kept);
  void tell_group_room_is_wanted();
  void tell_group_capturing(const segment::VersionId& id);
  void tell_group_client_gone();
  void tell_group_committed(const segment::VersionId& id);
  void tell_group_gone(const std::string& name, std::uint64_t version);
  std::optional<base::Json> answer_retire(const ipc::Retire& retire, bool timed_out);
  void refuse_waiting_grants(ClientId id, const segment::VersionId& version);
  void excuse_suspension(std::uint64_t now_ns);
  void reconsider_waiting();
  void send(ClientId id, std::uint64_t sequence, base::Json reply);
  void push(ClientId id, Client& client);
  void lose(Client& client);
  void drop_dead();
  /// Until something has to be done without a message or a call of wake(); nothing: never.
  std::optional<std::uint64_t> poll_timeout_ns();
  /// When the end may be due; 0: not before something happens.
  std::uint64_t end_at_ns();
  std::uint64_t look_again_at_ns(const ipc::Written& written);
  bool any_flushed_early();
  bool quiet();
  /// Whoever is connected and has not said who he is may be a rank: there is no end now, but he works on nothing.
  bool somebody_silent() const;
  bool group_quiet();
  void finish_if_idle();

  Core& core_;
  std::mutex& lock_;
  Flusher& flusher_;
  bool told_waiting_ = false;  // what the flusher was told last of whether somebody waits
  Janitor& janitor_;
  Reports& reports_;
  os::Fd listener_;
  os::Fd wake_fd_;
  os::Readiness readiness_;
  ServerOptions options_;
  std::map<ClientId, Client> clients_;
  bool some_dead_ = false;  // so that nobody has to look at all of them
  std::deque<Waiting> waiting_;
  std::uint64_t looked_ns_ = 0;  // when those who wait were looked at last
  ClientId next_client_ = 1;
  ClientId network_client_ = 0;            // who opened the network
  std::uint64_t only_group_since_ns_ = 0;  // nothing else was under way; 0: something is
  std::uint64_t idle_since_ns_ = 0;
  std::uint64_t draining_since_ns_ = 0;  // 0: nobody asked for shutdown
  bool told_over_ = false;
  std::atomic<bool> stopping_ = false;
  std::mutex over_mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace perdure::engine
