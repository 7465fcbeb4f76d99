#include "placement/decision.hpp"

namespace perdure::placement {
namespace {

struct Words {
  const char* name;
  const char* text;
};

Words words(Reason reason) {
  switch (reason) {
    case Reason::fastest:
      return {"fastest", "the fastest tier has room"};
    case Reason::first_with_room:
      return {"first_with_room", "the first tier with room"};
    case Reason::only_choice:
      return {"only_choice", "the tier that this policy uses"};
    case Reason::beats_flush:
      return {"beats_flush", "faster than waiting for a flush"};
    case Reason::helps_meanwhile:
      return {"helps_meanwhile", "done before flushes make room for the rest"};
    case Reason::nothing_to_wait_for:
      return {"nothing_to_wait_for", "no flush can free a better slot"};
    case Reason::failed_last_resort:
      return {"failed_last_resort", "a failed tier, as nothing else has room"};
    case Reason::wait_full:
      return {"wait_full", "waits: nothing has room"};
    case Reason::wait_flush_faster:
      return {"wait_flush_faster", "waits: a flush frees a faster slot sooner"};
    case Reason::wait_saturated:
      return {"wait_saturated", "waits: the tier with room is as busy as serves it well"};
    case Reason::wait_backlog:
      return {"wait_backlog", "waits: flushing more from the tier with room would end last"};
    case Reason::nowhere:
      return {"nowhere", "no tier has room, and nothing will free one"};
  }
  return {"unknown", "unknown"};
}

}  // namespace

const char* reason_text(Reason reason) { return words(reason).text; }
const char* reason_name(Reason reason) { return words(reason).name; }

bool is_wait(Reason reason) {
  return reason == Reason::wait_full || reason == Reason::wait_flush_faster || reason == Reason::wait_saturated ||
         reason == Reason::wait_backlog;
}

}  // namespace perdure::placement
