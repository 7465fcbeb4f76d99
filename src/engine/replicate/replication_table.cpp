#include "engine/replicate/replication_table.hpp"

namespace perdure::engine {
namespace {

constexpr Reaction never = Reaction::never, ignore = Reaction::ignore, offer = Reaction::offer, end = Reaction::end,
                   commit = Reaction::commit, encode_rest = Reaction::encode, withdraw = Reaction::withdraw,
                   keep = Reaction::keep_block, back = Reaction::return_block, again = Reaction::try_again,
                   noted = Reaction::note_recorded, late = Reaction::drop_record, backs = Reaction::return_blocks,
                   rec_later = Reaction::record_later, reach = Reaction::reach, rch_later = Reaction::reach_later,
                   take = Reaction::take, note = Reaction::note_withdraw, sent = Reaction::sent,
                   ordered = Reaction::ordered, unorder = Reaction::drop_order, stored = Reaction::note_stored,
                   whole = Reaction::note_whole, room = Reaction::make_room, ask = Reaction::ask_store,
                   redrop = Reaction::drop_again, drop = Reaction::drop, over = Reaction::supersede;

struct EventKind {
  const char* name;
  const char* why_never;
};

constexpr std::array<EventKind, kReplicationEventKinds> kKinds = {{
    {"capture published", "the slots of one version are published by one thread at a time, captures before commits"},
    {"capture over", "what was aborted is neither committed nor dropped afterwards"},
    {"committed", "what ended is forgotten: the version begins anew"},
    {"published", "it answers action::Publish, which is given once, in phase committed, and left by this event only"},
    {"publishing failed",
     "as with `published`: nothing is published before capture news, and nothing after the commit"},
    {"encoded", "the record is made when all blocks are; before pieces are published nothing is encoded"},
    {"encoding failed", "as with `encoded`"},
    {"recorded", "it answers action::Record, given once at a time, in phase recording"},
    {"recording failed", "as with `recorded`"},
    {"reached noted", "it answers action::NoteReached, given once at a time; a withdrawal does not interrupt that"},
    {"noting failed", "as with `reached noted`"},
    {"received", "what ended is forgotten: the message is another version's, or begins it anew"},
    {"sent", "nothing is sent before pieces are known; `reaching` begins when all messages have been answered"},
    {"ordered", "it answers action::Order, given when recorded; level node is not reached before the answer"},
    {"part stored", "of a capture nothing is published in the store; what ended is forgotten"},
    {"whole at store", "as with `part stored`"},
    {"room wanted", "what ended is forgotten"},
    {"dropped", "what ended is forgotten"},
    {"superseded", "what ended is forgotten"},
    {"left", "what ended is forgotten"},
    {"timer", "nothing is due before pieces are known; what ended is forgotten"},
    {"received withdraw", "what ended is forgotten"},
}};

}  // namespace

// clang-format off
constexpr ReplicationTable kReplicationTable = {{
  // heard    capturing committed encoding     recording  recorded  reaching   reached  withdrawn dropped   ended
  {{ offer,   offer,    offer,    never,       never,     never,    never,     never,   ignore,   ignore,   ignore }},  // capture published
  {{ end,     end,      never,    never,       never,     never,    never,     never,   ignore,   never,    ignore }},  // capture over
  {{ commit,  commit,   ignore,   ignore,      ignore,    ignore,   ignore,    ignore,  ignore,   ignore,   never  }},  // committed
  {{ never,   never,    encode_rest, never,    never,     never,    never,     never,   ignore,   ignore,   ignore }},  // published
  {{ withdraw, withdraw, withdraw, never,      never,     never,    never,     never,   ignore,   ignore,   ignore }},  // publishing failed
  {{ never,   keep,     keep,     keep,        never,     never,    never,     never,   back,     back,     back   }},  // encoded
  {{ never,   again,    again,    again,       never,     never,    never,     never,   ignore,   ignore,   ignore }},  // encoding failed
  {{ never,   never,    never,    never,       noted,     never,    never,     never,   late,     late,     ignore }},  // recorded
  {{ never,   never,    never,    never,       rec_later, never,    never,     never,   backs,    backs,    backs  }},  // recording failed
  {{ never,   never,    never,    never,       never,     never,    reach,     never,   never,    never,    ignore }},  // reached noted
  {{ never,   never,    never,    never,       never,     never,    rch_later, never,   never,    never,    ignore }},  // noting failed
  {{ take,    take,     take,     take,        take,      take,     take,      take,    take,     take,     never  }},  // received
  {{ never,   sent,     sent,     sent,        sent,      sent,     never,     sent,    sent,     sent,     ignore }},  // sent
  {{ never,   never,    never,    never,       never,     ordered,  never,     never,   unorder,  unorder,  unorder}},  // ordered
  {{ stored,  never,    stored,   stored,      stored,    stored,   stored,    stored,  stored,   ignore,   never  }},  // part stored
  {{ ignore,  never,    ignore,   ignore,      ignore,    ignore,   ignore,    whole,   ignore,   ignore,   never  }},  // whole at store
  {{ ignore,  ignore,   room,     room,        room,      room,     ignore,    ask,     redrop,   redrop,   never  }},  // room wanted
  {{ drop,    drop,     drop,     drop,        drop,      drop,     end,       end,     drop,     ignore,   never  }},  // dropped
  {{ end,     end,      over,     over,        over,      over,     over,      end,     end,      end,      never  }},  // superseded
  {{ end,     end,      end,      end,         end,       end,      end,       end,     end,      end,      never  }},  // left
  {{ never,   ignore,   ignore,   ignore,      ignore,    ignore,   ignore,    ignore,  ignore,   ignore,   never  }},  // timer
  {{ withdraw, withdraw, withdraw, withdraw,   withdraw,  withdraw, note,      ignore,  note,     note,     never  }},  // received withdraw
}};
// clang-format on

const char* name_of(ReplicationPhase phase) {
  constexpr std::array<const char*, kReplicationPhases> kNames = {"heard",     "capturing", "committed", "encoding",
                                                                  "recording", "recorded",  "reaching",  "reached",
                                                                  "withdrawn", "dropped",   "ended"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::size_t kind_of(const ReplicationEvent& event) {
  const auto* received = std::get_if<event::Received>(&event);
  const bool withdraws = received != nullptr && std::holds_alternative<Withdraw>(received->message.body);
  return withdraws ? kReplicationEventKinds - 1 : event.index();
}

const char* name_of_event_kind(std::size_t kind) { return kKinds[kind].name; }

const char* why_never(std::size_t kind) { return kKinds[kind].why_never; }

}  // namespace perdure::engine
