#pragma once
// Implements the wire over libfabric. One thread makes progress and reports; it sleeps on the completion queue's
// descriptor. Any thread begins sends and transfers. Operations that the provider cannot take at the moment wait in a
// bounded list, which the thread processes.
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "network/fabric_door.hpp"
#include "network/fabric_resources.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"

namespace perdure::network {

class FabricWire : public Wire {
 public:
  static base::Result<std::unique_ptr<Wire>> make(const FabricOptions& options);
  ~FabricWire() override;
  base::Status start(WireEvents& events) override;
  void stop() override;
  Bytes address() const override { return fabric_.address; }
  std::size_t max_message() const override;
  base::Result<WirePeer> connect(ConstByteSpan address) override;
  void forget(WirePeer peer) override;
  base::Status send(WirePeer peer, ConstByteSpan message) override;
  base::Result<WireMemory> expose(ByteSpan memory, Access access) override;
  void withdraw(const WireMemory& memory) override;
  base::Result<WireBufferPointer> make_buffer(std::size_t bytes) override;
  base::Status begin(WireTransfer transfer) override;

 private:
  enum class Kind { send, receive, transfer };
  /// One operation of libfabric; `context` comes first because completions name it.
  struct Operation {
    fi_context2 context{};
    Kind kind = Kind::send;
    WirePeer peer = 0;
    fi_addr_t to = FI_ADDR_UNSPEC;
    WireBufferPointer buffer;
    std::size_t bytes = 0;
    WireTransfer transfer;  // of a transfer
    bool posted = false;
    bool waits = false;     // the provider could not take it yet
    bool given_up = false;  // a transfer whose end the thread is to report before the provider does
    bool reported = false;  // and it has
    std::uint64_t since_ns = 0;
    std::list<Operation>::iterator self;
  };
  struct PeerEntry {
    Bytes address;
    fi_addr_t to = FI_ADDR_UNSPEC;
    unsigned under_way = 0;  // sends in flight
  };
  struct AddressEntry {
    fi_addr_t to = FI_ADDR_UNSPEC;
    unsigned users = 0;
  };
  struct Known {
    WirePeer next = 1;
    std::unordered_map<WirePeer, PeerEntry> peers;
    std::map<Bytes, AddressEntry> addresses;
  };

  FabricWire(FabricResources fabric, FabricDoor door, os::Fd wake, std::uint64_t sleep_ns);
  void wake() const;
  void run();
  void drain_completions();
  /// Returns true if a caller waits to be accepted by the provider.
  bool sleep();
  void guard_door(bool arrived);
  bool complete_error();
  void finish(Operation& operation, const base::Status& status, std::size_t bytes);
  void report();
  void tell(std::uint64_t token, const base::Status& status);
  template <class Tell>
  void tell_until_heard(Tell tell) noexcept;
  void let_wait(Operation& operation) { waiting_ += std::exchange(operation.waits, true) ? 0 : 1; }
  void give_up(Operation& operation) { given_up_ += std::exchange(operation.given_up, true) ? 0 : 1; }
  base::Status post_receives();
  long post(Operation& operation);  // locked by the caller
  /// Posts it, or queues it. Locked by the caller.
  base::Status launch(std::list<Operation>::iterator operation);
  void post_waiting();
  std::list<Operation>::iterator add(Kind kind, WirePeer peer, fi_addr_t to, WireBufferPointer buffer,
                                     std::size_t bytes);
  base::Result<WireBufferPointer> take_message_buffer();
  void release(Operation& operation);

  FabricResources fabric_;
  FabricDoor door_;  // only the thread uses it
  os::Fd wake_;
  const std::uint64_t sleep_ns_;
  WireEvents* events_ = nullptr;
  os::Thread thread_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  bool open_ = true;
  Known known_;
  std::list<Operation> operations_;
  std::vector<WireBufferPointer> free_buffers_;
  std::size_t waiting_ = 0, given_up_ = 0;  // counts of operations; lists would need memory that may be refused
  std::map<std::uint64_t, FidPointer<fid_mr>> exposed_;
};

}  // namespace perdure::network
