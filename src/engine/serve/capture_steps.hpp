#pragma once
// Implements the steps of a capture, for captures that come in several messages and for those that come in one.
#include "engine/serve/waiting_requests.hpp"

namespace perdure::engine {

void tell_group_capturing(ServeContext& context, const segment::VersionId& id);
void tell_group_gone(ServeContext& context, const std::vector<segment::VersionId>& ids);
void begin_capture(ServeContext& context, ClientId client, const ipc::Begin& begin);
/// nullopt: there is no slot yet.
std::optional<base::Result<ipc::Granted>> answer_grant(ServeContext& context, const Asked& asked,
                                                       const ipc::Grant& grant);
bool is_at_once(const ipc::Grant& grant);
void grant_waited(ServeContext& context, double seconds);
/// nullopt: an emulated tier still writes it.
std::optional<base::Status> take_written(ServeContext& context, ClientId client, const ipc::Written& written);
base::Result<ipc::Staged> stage_piece(ServeContext& context, ClientId client, const ipc::Stage& stage);

}  // namespace perdure::engine
