#include "parity/server.hpp"

#include "parity/encoder.hpp"

namespace perdure::parity {

Server::Server(const ServerOptions& options, std::shared_ptr<Pool> pool, std::shared_ptr<Pool> scratch)
    : options_(options), pool_(std::move(pool)), table_of_parities_(pool_), rebuilds_(std::move(scratch)) {}

base::Result<std::unique_ptr<Server>> Server::start(std::unique_ptr<network::Wire> wire, const ServerOptions& options) {
  PERDURE_TRY(auto pool, Pool::make(options.pool_bytes, "pool of the parity server", options.backed));
  PERDURE_TRY(auto scratch, Pool::make(options.pool_bytes, "memory for rebuilding", false));
  std::unique_ptr<Server> server(new Server(options, std::move(pool), std::move(scratch)));
  Server* self = server.get();
  PERDURE_CHECK(server->encoders_.start(options.orders_at_once));
  PERDURE_CHECK(server->rebuilders_.start(options.rebuilds_at_once));
  PERDURE_TRY(
      server->endpoint_,
      network::Endpoint::open(std::move(wire), options.endpoint,
                              {[self](network::PeerId peer, ConstByteSpan frame) { return self->serve(peer, frame); },
                               [self](network::PeerId peer, const base::Error&) { self->on_lost(peer); }}));
  server->reader_ = std::make_unique<Reader>(*server->endpoint_, options.reads);
  server->ready_ = server->endpoint_.get();
  return server;
}

Server::~Server() {
  table_of_parities_.give_up_all();
  rebuilds_.give_up_all();
  if (reader_) reader_->break_off();
  encoders_.stop();
  rebuilders_.stop();
  endpoint_.reset();  // its handlers use the members below
}

base::Result<Bytes> Server::serve(network::PeerId peer, ConstByteSpan frame) {
  if (ready_ == nullptr) return base::fail(PERDURE_UNAVAILABLE, "parity server", "it is not ready", {}, true);
  auto request = decode_request(frame);
  if (!request) {
    ++refused_;
    return base::fail(request.error());
  }
  return std::visit([&](auto& content) { return answer(peer, content); }, *request);
}

void Server::on_lost(network::PeerId peer) {
  if (network::Endpoint* endpoint = ready_) rebuilds_.end_all_of(*endpoint, peer);
}

Inventory Server::inventory() const {
  Inventory inventory = table_of_parities_.inventory();
  inventory.under_way += rebuilds_.size();
  inventory.bytes_pulled = pulled_;
  inventory.refused = refused_;
  return inventory;
}

base::Result<Bytes> Server::answer(network::PeerId, Order& order) {
  PERDURE_TRY(const ParityTable::Accepted accepted, table_of_parities_.accept(order));
  if (accepted.fresh) {
    const auto shared = std::make_shared<const Order>(std::move(order));
    encoders_.post([this, shared, record = accepted.record] {
      table_of_parities_.begin(record);
      table_of_parities_.finish(record, encode_order(*reader_, *shared, *record, options_.lanes));
      pulled_ += record->progress.pulled;
    });
  }
  return encode(table_of_parities_.standing(accepted.record->id));
}

base::Result<Bytes> Server::answer(network::PeerId, const AskStanding& ask) {
  return encode(table_of_parities_.standing(ask.id));
}

base::Result<Bytes> Server::answer(network::PeerId, const AskKept& ask) {
  PERDURE_TRY(const Kept kept, table_of_parities_.kept(ask.id));
  return encode(kept);
}

base::Result<Bytes> Server::answer(network::PeerId, const Drop& drop) {
  // A client that reads it at this moment gets old or other bytes: the pool stays mapped.
  if (const AreaPointer area = table_of_parities_.drop(drop.id)) ready_.load()->withdraw(area->exposed);
  return Bytes{};
}

base::Result<Bytes> Server::answer(network::PeerId, const AskInventory&) { return encode(inventory()); }

base::Result<Bytes> Server::answer(network::PeerId, const AskList& ask) {
  return encode(table_of_parities_.list(ask.prefix, ask.after));
}

base::Result<Bytes> Server::answer(network::PeerId peer, Rebuild& rebuild) {
  PERDURE_TRY(RecordPointer record, table_of_parities_.done(rebuild.id));
  PERDURE_TRY(const RebuildPointer job, rebuilds_.add(peer, std::move(rebuild), std::move(record)));
  rebuilders_.post([this, job] {
    rebuilds_.run(*ready_, *reader_, job);
    pulled_ += job->progress.pulled;
  });
  return encode_ticket(job->ticket);
}

base::Result<Bytes> Server::answer(network::PeerId peer, const AskRebuilt& ask) {
  return encode(rebuilds_.standing(peer, ask.ticket));
}

base::Result<Bytes> Server::answer(network::PeerId peer, const EndRebuild& end) {
  rebuilds_.end(*ready_, peer, end.ticket);
  return Bytes{};
}

}  // namespace perdure::parity
