#pragma once
// Who a client is, what it and people hear from an engine, and its end.
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"

namespace perdure::ipc {

/// Goes up whenever any message changes.
inline constexpr std::uint64_t kProtocol = 17;

struct Greeted {
  std::uint64_t chunk_bytes = 0;
  bool paced = false;  ///< the engine emulates tiers: it says when a chunk is written (AwaitWritten)
  PERDURE_FIELDS(chunk_bytes, paced)
};
/// First on every connection. Refused with PERDURE_BUSY when the engine serves another configuration. In every release
/// its first field is the protocol; an engine of another protocol reads no further.
struct Hello {
  static constexpr const char* kName = "hello";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Greeted;
  std::uint64_t protocol = kProtocol;
  std::string fingerprint;
  std::uint32_t rank = 0;
  bool first_node = false;  ///< the engine of the job's first node looks after retention in the store
  bool client = true;       ///< false: a tool that only asks; does not keep the engine alive
  PERDURE_FIELDS(protocol, fingerprint, rank, first_node, client)
};

/// Something that people should know, for the engine's reports.
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
/// The oldest report that nobody took yet.
struct NextReport {
  static constexpr const char* kName = "next_report";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Report;
  PERDURE_FIELDS()
};

/// What programs for people show as it is.
struct View {
  std::vector<std::byte> cbor;
  PERDURE_FIELDS(cbor)
};
/// What the engine sees and decides: a map as src/engine/serve/overview.hpp says. Changes nothing.
struct Top {
  static constexpr const char* kName = "top";
  static constexpr Kind kKind = Kind::answered;
  using Reply = View;
  PERDURE_FIELDS()
};
/// What the engine counts, for monitoring: a map of "labels" and "families" (metrics/family_codec.hpp). Changes
/// nothing.
struct Metrics {
  static constexpr const char* kName = "metrics";
  static constexpr Kind kKind = Kind::answered;
  using Reply = View;
  PERDURE_FIELDS()
};

/// Ends a perdured when it is done (Drain first on another call if wanted).
struct Shutdown {
  static constexpr const char* kName = "shutdown";
  static constexpr Kind kKind = Kind::answered;
  using Reply = Done;
  /// Now, for the engine of a new launch, which goes on with what is in the node's directory. PERDURE_BUSY while ranks
  /// are connected, PERDURE_UNSUPPORTED when the engine lives in an application, PERDURE_EXISTS when the store has all.
  bool hand_over = false;
  PERDURE_FIELDS(hand_over)
};

using InspectionMessages = Messages<Hello, Note, NextReport, Top, Metrics, Shutdown>;

}  // namespace perdure::ipc
