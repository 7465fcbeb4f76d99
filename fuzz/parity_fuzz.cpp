// Fuzzes requests to a parity server (mode 0), its answers (1 to 7), and the file that names it (8), with any bytes.
#include <algorithm>

#include "parity/frames.hpp"
#include "parity/order_codec.hpp"
#include "parity/server_file.hpp"
#include "target.hpp"

namespace perdure::fuzz {
namespace {

using namespace perdure::parity;

/// An understood request must be understood again after it is encoded.
void judge_request(base::ConstByteSpan bytes) {
  const auto request = decode_request(bytes);
  if (!request) return;
  const Bytes frame = encode(*request);
  const auto again = decode_request(frame);
  require(again && encode(*again) == frame);
  if (const auto* order = std::get_if<Order>(&*request)) (void)check_order(*order);
}

template <class Decode>
void judge_answer(base::ConstByteSpan bytes, const Decode& decode) {
  const auto answer = decode(bytes);
  if (answer) require(decode(encode(*answer)).has_value());
}

Order seed_order() {
  const network::RemoteMemory memory{{1, 4096, 1 << 20}, network::Access::read, {}};
  const network::RemoteMemory file{
      {2, 4096, 1 << 20}, network::Access::read, network::LocalFile{{"/dev/shm/x", 4}, "host", 7, 8, 9}};
  const Bytes address(20, std::byte{5});
  return {Bytes(3, std::byte{'i'}),
          Bytes(4, std::byte{'n'}),
          {{address, {{memory, 0, 10, {1, 2}}, {file, 10, 20, {3, 4}}, {memory, 30, 5, {5, 6}}}}, {address, {}}}};
}

}  // namespace

void run_one(base::ConstByteSpan input) {
  if (input.empty()) return;
  const base::ConstByteSpan rest = input.subspan(1);
  switch (std::to_integer<int>(input[0])) {
    case 0:
      return judge_request(rest);
    case 1:
      return judge_answer(rest, decode_standing);
    case 2:
      return judge_answer(rest, decode_kept);
    case 3:
      return judge_answer(rest, decode_page);
    case 4:
      return judge_answer(rest, decode_inventory);
    case 5:
      return judge_answer(rest, decode_rebuilt);
    case 6:
      return judge_answer(rest, decode_pool_memory);
    case 7:
      return (void)decode_ticket(rest);
    case 8:
      return (void)parse_server_file({reinterpret_cast<const char*>(rest.data()), rest.size()}, "file");
    default:
      return;
  }
}

std::vector<Bytes> seeds() {
  const Bytes id(3, std::byte{'i'});
  const network::RemoteMemory memory{{1, 4096, 1 << 20}, network::Access::read, {}};
  Rebuild rebuild{id, 3, 2, 999, {}};
  rebuild.survivors.push_back({1, {4, 5}, 6, Bytes(20, std::byte{5}), memory, 7});
  std::vector<Bytes> list;
  for (const Request& request :
       std::initializer_list<Request>{seed_order(), AskStanding{id}, AskInventory{}, AskList{id, id}, rebuild,
                                      AskRebuilt{5}, Allocate{id, 7}, Put{id, 8, id}, Pull{id, 1, memory, 3, 4}})
    list.push_back(with_mode(0, encode(request)));
  const base::Error error{PERDURE_IO, "object", "cause", "remedy", true};
  list.push_back(with_mode(1, encode(Standing{Stage::failed, 5, 6, error})));
  list.push_back(with_mode(2, encode(Kept{{}, id, {{1, {2, 3}}, {4, {5, 6}}}})));
  list.push_back(with_mode(3, encode(std::vector<Listed>{{id, true, Stage::done, 7}})));
  list.push_back(with_mode(4, encode(Inventory{1, 2, 3, 4, 5, 6, 7, 8})));
  list.push_back(with_mode(5, encode(Rebuilt{Stage::done, 9, {}, memory})));
  list.push_back(with_mode(6, encode(PoolMemory{{}, 5, memory})));
  list.push_back(with_mode(7, encode_ticket(77)));
  ServerFile file{network::encode(network::Address{id, 7}), {}};
  const std::string text = to_text(file);
  list.push_back(with_mode(8, base::as_bytes(text)));
  return list;
}

}  // namespace perdure::fuzz
