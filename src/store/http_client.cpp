#include "store/http_client.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/guarded.hpp"
#include "store/curl_library.hpp"

namespace perdure::store {
namespace {

constexpr std::size_t kMostAnswerBytes = 64 * base::MiB;  // a page of a listing has less than 1 MiB
constexpr std::size_t kMostConnections = 64;

struct Transfer {
  const HttpRequest& request;
  HttpAnswer answer = {};
  std::size_t sent = 0;
  const CurlLibrary* library = nullptr;
  CURL* curl = nullptr;
  bool into_target = false, decided = false, too_large = false;
};

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) transfer.answer.headers.clear();  // of an earlier answer: 100, or a redirection
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  transfer.answer.headers[name] = value;
  return size * count;
}

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t bytes = size * count;
  if (!std::exchange(transfer.decided, true)) {
    long status = 0;
    transfer.library->curl_easy_getinfo(transfer.curl, CURLINFO_RESPONSE_CODE, &status);
    transfer.into_target = status / 100 == 2 && !transfer.request.target.empty();
  }
  HttpAnswer& answer = transfer.answer;
  if (transfer.into_target) {
    const auto target = transfer.request.target;
    transfer.too_large = bytes > target.size() - answer.received;
    if (transfer.too_large) return 0;
    std::memcpy(target.data() + answer.received, data, bytes);
    answer.received += bytes;
    return bytes;
  }
  transfer.too_large = answer.body.size() + bytes > kMostAnswerBytes;
  if (transfer.too_large) return 0;
  answer.body.append(data, bytes);
  return bytes;
}

std::size_t give_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const auto left = transfer.request.body.subspan(transfer.sent);
  const std::size_t bytes = std::min(left.size(), size * count);
  std::memcpy(data, left.data(), bytes);
  transfer.sent += bytes;
  return bytes;
}

/// Sends the body again, on a connection that the server had closed meanwhile.
int seek_body(void* user, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Transfer*>(user)->sent = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

class HeaderList {
 public:
  explicit HeaderList(const CurlLibrary& library) : library_(library) {}
  ~HeaderList() { library_.curl_slist_free_all(list_); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  void add(const std::string& line) { list_ = library_.curl_slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  const CurlLibrary& library_;
  curl_slist* list_ = nullptr;
};

void set_method(Transfer& transfer) {
  CURL* const curl = transfer.curl;
  const auto set = transfer.library->curl_easy_setopt;
  const HttpRequest& request = transfer.request;
  const auto bytes = static_cast<curl_off_t>(request.body.size());
  if (request.method == "HEAD") {
    set(curl, CURLOPT_NOBODY, 1L);
    return;
  }
  if (request.method == "GET") return;
  set(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.method == "DELETE") return;
  set(curl, CURLOPT_UPLOAD, 1L);
  set(curl, CURLOPT_INFILESIZE_LARGE, bytes);
  set(curl, CURLOPT_READFUNCTION, give_body);
  set(curl, CURLOPT_READDATA, &transfer);
  set(curl, CURLOPT_SEEKFUNCTION, seek_body);
  set(curl, CURLOPT_SEEKDATA, &transfer);
}

/// Sets what does not depend on the signature.
void set_options(Transfer& transfer, const HttpLimits& limits) {
  CURL* const curl = transfer.curl;
  const auto set = transfer.library->curl_easy_setopt;
  set(curl, CURLOPT_URL, transfer.request.url.c_str());
  set(curl, CURLOPT_PATH_AS_IS, 1L);
  set(curl, CURLOPT_NOSIGNAL, 1L);
  set(curl, CURLOPT_HEADERFUNCTION, take_header);
  set(curl, CURLOPT_HEADERDATA, &transfer);
  set(curl, CURLOPT_WRITEFUNCTION, take_body);
  set(curl, CURLOPT_WRITEDATA, &transfer);
  set(curl, CURLOPT_BUFFERSIZE, 512L * 1024);
  set(curl, CURLOPT_UPLOAD_BUFFERSIZE, 1024L * 1024);
  set(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_ns / 1'000'000));
  set(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.silence_ns / 1'000'000'000));
  if (!limits.certificates.empty()) set(curl, CURLOPT_CAINFO, limits.certificates.c_str());
  set_method(transfer);
}

}  // namespace

struct HttpClient::Connections {
  base::Guarded<std::vector<CURL*>> idle;

  CURL* take(const CurlLibrary& library) {
    {
      const auto state = idle.lock();
      if (!state->empty()) {
        CURL* const curl = state->back();
        state->pop_back();
        return curl;
      }
    }
    return library.curl_easy_init();
  }
  void give(const CurlLibrary& library, CURL* curl) {
    library.curl_easy_reset(curl);  // forgets the secret, and keeps the connection
    {
      const auto state = idle.lock();
      if (state->size() < kMostConnections) state->push_back(std::exchange(curl, nullptr));
    }
    if (curl != nullptr) library.curl_easy_cleanup(curl);
  }
};

HttpClient::HttpClient(HttpLimits limits) : limits_(std::move(limits)), connections_(new Connections) {}

HttpClient::~HttpClient() {
  const auto idle = connections_->idle.lock();
  for (CURL* curl : *idle) (*curl_library())->curl_easy_cleanup(curl);
}

base::Result<HttpAnswer> HttpClient::send(const HttpRequest& request, const HttpSigning& signing) {
  PERDURE_TRY(const CurlLibrary* const library, curl_library());
  CURL* const curl = connections_->take(*library);
  if (curl == nullptr) return base::fail(PERDURE_NO_SPACE, request.url, "libcurl has no memory");
  Transfer transfer{request};
  transfer.library = library;
  transfer.curl = curl;
  HeaderList headers(*library);
  for (const std::string& line : request.headers) headers.add(line);
  headers.add("Expect:");  // else each part waits for a word of the server first
  set_options(transfer, limits_);
  const auto set = library->curl_easy_setopt;
  set(curl, CURLOPT_HTTPHEADER, headers.get());
  const std::string user = signing.key + ":" + signing.secret, how = "aws:amz:" + signing.region + ":s3";
  if (!signing.key.empty()) {
    set(curl, CURLOPT_AWS_SIGV4, how.c_str());
    set(curl, CURLOPT_USERPWD, user.c_str());
  }
  const CURLcode done = library->curl_easy_perform(curl);
  library->curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &transfer.answer.status);
  connections_->give(*library, curl);
  const std::string object = request.url.substr(0, request.url.find('?'));
  if (transfer.too_large) return base::fail(PERDURE_CORRUPT, object, "the answer has more bytes than were asked for");
  if (done != CURLE_OK)
    return base::fail(PERDURE_UNAVAILABLE, object,
                      std::string("the request failed: ") + library->curl_easy_strerror(done),
                      "check store.s3.endpoint and the network", true);
  return std::move(transfer.answer);
}

}  // namespace perdure::store
