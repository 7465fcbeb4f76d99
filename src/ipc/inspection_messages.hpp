#pragma once
// Clients introduce themselves, inspect an engine and end it with these messages.
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"

namespace perdure::ipc {

/// It goes up whenever any message changes.
inline constexpr std::uint64_t kProtocol = 17;

struct Greeted {
  std::uint64_t chunk_bytes = 0;
  bool paced = false;  ///< the engine emulates tiers: it reports when a chunk is written (AwaitWritten)
  PERDURE_FIELDS(chunk_bytes, paced)
};
/// The first message on every connection. Refused with PERDURE_BUSY if the engine serves another configuration. In
/// every release its first field is the protocol; an engine of another protocol reads no further.
struct Hello {
  static constexpr const char* kName = "hello";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Greeted;
  std::uint64_t protocol = kProtocol;
  std::string fingerprint;
  std::uint32_t rank = 0;
  bool first_node = false;  ///< the engine of the job's first node applies retention in the store
  bool client = true;       ///< false: a tool that only asks; does not keep the engine alive
  PERDURE_FIELDS(protocol, fingerprint, rank, first_node, client)
};

/// A fact that people should know, for the engine's reports.
struct Note {
  static constexpr const char* kName = "note";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  std::string text;
  PERDURE_FIELDS(text)
};
struct Report {
  std::optional<std::string> text;
  PERDURE_FIELDS(text)
};
/// Asks for the oldest report that nobody took yet.
struct NextReport {
  static constexpr const char* kName = "next_report";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Report;
  PERDURE_FIELDS()
};

/// A view that programs show to people unchanged.
struct View {
  std::vector<std::byte> cbor;
  PERDURE_FIELDS(cbor)
};
/// Asks for the engine's observations and decisions: a map as in src/engine/serve/overview.hpp. Changes nothing.
struct Top {
  static constexpr const char* kName = "top";
  static constexpr Kind kKind = Kind::answered;
  using Reply = View;
  PERDURE_FIELDS()
};
/// Asks for the engine's metrics, for monitoring: a map of "labels" and "families" (metrics/family_codec.hpp). Changes
/// nothing.
struct Metrics {
  static constexpr const char* kName = "metrics";
  static constexpr Kind kKind = Kind::answered;
  using Reply = View;
  PERDURE_FIELDS()
};

/// Ends a perdured when its work is done (send Drain first on another call if wanted).
struct Shutdown {
  static constexpr const char* kName = "shutdown";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  /// Ends it now, for the engine of a new launch, which goes on with the data in the node's directory. Fails with
  /// PERDURE_BUSY while ranks are connected. Fails with PERDURE_UNSUPPORTED if the engine lives in an application, and
  /// with PERDURE_EXISTS if the store has everything.
  bool hand_over = false;
  PERDURE_FIELDS(hand_over)
};

using InspectionMessages = Messages<Hello, Note, NextReport, Top, Metrics, Shutdown>;

}  // namespace perdure::ipc
