#include "engine/serve/handlers.hpp"

namespace perdure::engine {

Handlers::Handlers() {
  enrol_inspection_handlers(*this);
  enrol_capture_handlers(*this);
  enrol_small_capture_handler(*this);
  enrol_version_handlers(*this);
  enrol_level_handlers(*this);
  enrol_group_handlers(*this);
  enrol_guest_handlers(*this);
}

void Handlers::refuse_malformed(ServeContext& context, ClientId client, const base::Error& error) {
  context.reports.add("a connection sent what is no message and was closed: " + error.cause);
  context.connections.lose(client);
}

void Handlers::take(ServeContext& context, ClientId client, base::ConstByteSpan payload) const {
  const auto head = ipc::take_head(payload);
  if (!head || head->sequence == 0) return context.connections.lose(client);
  const auto refuse = [&](const base::Error& error) {
    context.connections.send(client, [&](std::vector<std::byte>& out) {
      ipc::append_reply(out, head->sequence, base::Result<ipc::Done>(base::fail(error)));
    });
  };
  if (head->operation >= take_.size())
    return refuse({PERDURE_CORRUPT, "message", "unknown operation " + std::to_string(head->operation), "", false});
  if (head->operation != ipc::kOperation<ipc::Hello> && !context.clients.contains(client))
    return refuse({PERDURE_INVALID_ARGUMENT, "message", "the first message is not hello", "", false});
  const auto taken = base::caught("message", [&]() -> base::Status {
    take_[head->operation](context, {client, head->sequence, payload});
    return {};
  });
  if (taken) return;
  // A client that was answered in part is lost by then, and hears nothing more.
  context.reports.add("a request failed: " + taken.error().text());
  refuse(taken.error());
}

}  // namespace perdure::engine
