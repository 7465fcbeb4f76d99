#include "engine/serve/server.hpp"

#include <algorithm>
#include <utility>

#include "engine/flush/flusher.hpp"
#include "engine/peers/node_group.hpp"
#include "os/system.hpp"

namespace perdure::engine {

Server::Server(Ledger& ledger, Flusher& flusher, Janitor& janitor, Pipeline& pipeline, Reports& reports,
               os::Fd listener, ServerOptions options)
    : options_(std::move(options)),
      connections_(std::move(listener), reports,
                   [this](ClientId client, const ipc::Frame& frame) { take(client, frame); }),
      lifetime_(ledger, flusher, janitor, pipeline, options_.group, options_.idle_exit_ns),
      background_([this] { wake(); }),
      room_look_(options_.look_for_room, background_),
      context_{ledger,    flusher,  janitor,      pipeline,    reports,   options_,
               lifetime_, waiting_, connections_, background_, room_look_} {
  started_ = connections_.started();
  if (!started_) return;
  {
    const auto recovered = ledger.lock();
    context_.skipped.leave_recovered(*recovered);
  }
  auto begun = os::Thread::start(
      "event loop", [this] { run(); }, [this](const base::Error& why) { return failed(why); });
  if (begun)
    thread_ = std::move(*begun);
  else
    started_ = base::fail(begun.error());
}

// The loop goes on after the error. Waiting requests are looked at again, and a connection with a half-sent reply is
// lost.
bool Server::failed(const base::Error& why) {
  if (stopping_) return false;
  wake();  // connections that were lost are dropped before the loop waits again
  context_.reports.add("the engine's event loop failed, and goes on: " + why.text());
  return true;
}

void Server::stop() {
  stopping_ = true;
  room_look_.stop();
  wake();
  thread_.join();
  lifetime_.end();
}

void Server::close() {
  stop();
  connections_.close();
  background_.finish();
}

void Server::run() {
  while (!stopping_) {
    if (auto waited = connections_.wait(poll_timeout_ns()); !waited) {
      context_.reports.add("the engine listens no more: " + waited.error().text());
      connections_.close();  // no client may wait for an answer
      lifetime_.end();
      return;
    }
    drop_lost();
    waiting_.reconsider(context_);
    hurry_flushes();
    drop_lost();
    if (any_write_through()) context_.flusher.reevaluate_captures();
    lifetime_.finish_if_idle(presence());
  }
}

void Server::take(ClientId client, const ipc::Frame& frame) {
  if (!frame.outdated) return handlers_.take(context_, client, frame.payload);
  connections_.send(client, [&frame](std::vector<std::byte>& out) {
    const auto refusal = ipc::refuse_outdated(frame.payload, ipc::kProtocol);
    out.insert(out.end(), refusal.begin(), refusal.end());
  });
}

void Server::drop_lost() {
  connections_.drop_lost(gone_);
  for (; !gone_.empty(); gone_.pop_back()) {  // an entry that fails half way is retried
    const ClientId id = gone_.back();
    waiting_.client_gone(id);
    context_.skipped.answered(id);
    const auto client = context_.clients.find(id);
    const bool is_rank = client != context_.clients.end() && client->second.is_rank();
    {
      const auto ledger = context_.ledger.lock();
      ledger->client_gone(id, is_rank ? std::optional(client->second.rank) : std::nullopt);
    }
    context_.flusher.look_at_application();
    if (options_.group != nullptr) {
      options_.group->client_gone(id);
      options_.group->reevaluate_captures();
    }
    if (is_rank) context_.flusher.let_all_flush();
    if (is_rank) lifetime_.rank_left();  // a tool that asks again and again must not put off the end
    if (client != context_.clients.end()) context_.clients.erase(client);
  }
}

// Flushes are not held back for the application while somebody waits for them.
void Server::hurry_flushes() {
  const bool waits = lifetime_.shutting_down() || waiting_.for_flush();
  if (std::exchange(told_waiting_, waits) != waits) context_.flusher.somebody_waits(waits);
}

bool Server::any_write_through() {
  const auto ledger = context_.ledger.lock();
  return ledger->captures.any_write_through();
}

Presence Server::presence() const {
  const auto& clients = context_.clients;
  return {std::any_of(clients.begin(), clients.end(), [](const auto& client) { return client.second.is_rank(); }),
          connections_.count() > clients.size()};
}

std::optional<std::uint64_t> Server::poll_timeout_ns() {
  const std::uint64_t look = waiting_.next_look_ns(context_), end = lifetime_.end_at_ns(presence());
  const std::uint64_t next = look == 0 || (end != 0 && end < look) ? end : look;
  if (next == 0) return std::nullopt;
  const std::uint64_t now = os::monotonic_ns();
  return next <= now ? 0 : std::min<std::uint64_t>(next - now, 3'600'000'000'000);
}

}  // namespace perdure::engine
