#pragma once
// An S3 server for tests: moto's, on a port of its own, as long as this process lives.
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/guarded.hpp"
#include "store/s3_objects.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace perdure::test_support {

class S3Server {
 public:
  /// The server of this process, which the first call starts.
  static S3Server& of_process() {
    static S3Server server;
    return server;
  }
  /// Why there is none; empty: it runs.
  const std::string& missing() const { return missing_; }
  const std::string& endpoint() const { return endpoint_; }
  /// Makes a bucket of this name, which may be there.
  void make_bucket(const std::string& bucket) {
    store::HttpClient client({});
    const auto answer = client.send({"PUT", endpoint_ + "/" + bucket, {"x-amz-content-sha256: UNSIGNED-PAYLOAD"}},
                                    {"us-east-1", "test", "secret"});
    if (!answer || answer->status != 200) std::abort();
  }
  void stop() const { ::kill(process_, SIGSTOP); }
  void go_on() const { ::kill(process_, SIGCONT); }

  ~S3Server() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

 private:
  S3Server() {
    const char* given = std::getenv("PERDURE_TEST_MOTO");
    const std::string program = given != nullptr ? given : PERDURE_MOTO_SERVER;
    if (!std::filesystem::exists(program)) {
      missing_ = program + " is not there (tools/bootstrap installs moto where PyPI can be reached)";
      return;
    }
    const std::string log = directory_ / "log";
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (std::freopen(log.c_str(), "w", stdout) == nullptr || ::dup2(1, 2) < 0) ::_exit(1);
      ::execl(program.c_str(), program.c_str(), "-H", "127.0.0.1", "-p", "0", nullptr);
      ::_exit(1);
    }
    const bool runs = eventually("the S3 server says where it listens", [&] {
      std::ifstream input(log);
      const std::string text(std::istreambuf_iterator<char>(input), {});
      const std::size_t at = text.find("http://127.0.0.1:");
      if (at == std::string::npos) return false;
      const std::size_t end = text.find_first_of("\r\n \033", at);
      if (end == std::string::npos) return false;
      endpoint_ = text.substr(at, end - at);
      return true;
    });
    if (!runs) missing_ = "it did not start";
  }

  TemporaryDirectory directory_;
  pid_t process_ = 0;
  std::string missing_, endpoint_;
};

/// The objects of a bucket of that server, which must run. Makes the bucket if it is not there.
inline std::shared_ptr<store::Objects> objects_of_s3(const std::string& bucket) {
  static base::Guarded<std::set<std::string>> made;
  S3Server& server = S3Server::of_process();
  {
    const auto known = made.lock();
    if (known->insert(bucket).second) server.make_bucket(bucket);
  }
  auto place = store::s3_place(
      bucket + "/a/prefix", [&](const char* name) { return name == std::string("endpoint") ? server.endpoint() : ""; },
      [](const char*) { return std::string(); });
  return store::make_s3_objects(std::move(*place), []() -> base::Result<store::S3Credentials> {
    return store::S3Credentials{"test", "secret", ""};
  });
}

}  // namespace perdure::test_support
