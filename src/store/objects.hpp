#pragma once
// Keeps objects of bytes under keys, as memory, an object store or a key-value store can. store::Versions
// (versions.hpp) makes a store of checkpoints of them. A new kind is one file, and a line in store/objects_test.cpp.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace perdure::store {

struct ObjectsProperties {
  std::string kind;      ///< "s3"
  std::string location;  ///< URL, for messages: with "/" and a key behind it, it names an object
  bool writable = true;
  std::uint64_t usual_part_bytes = 8 * base::MiB;  ///< of an upload, where that makes no more than most_parts
  std::uint64_t least_part_bytes = 5 * base::MiB;  ///< of each part but the last
  std::uint32_t most_parts = 10'000;               ///< of an upload
  bool tags_tell_puts = true;                      ///< false: equal bytes have equal tags
};

/// An object without its bytes.
struct ObjectInfo {
  std::string key;
  std::uint64_t bytes = 0;
  std::string tag;           ///< another one for other bytes (HTTP: entity tag); empty for a folder
  std::uint64_t age_ns = 0;  ///< since it was put, by the store's clock
};

/// On which condition a put replaces an object.
struct PutCondition {
  enum class Object { any, absent, tagged } is = Object::any;
  std::string tag = {};
  static PutCondition any() { return {}; }
  static PutCondition absent() { return {Object::absent, {}}; }
  static PutCondition tagged(std::string tag) { return {Object::tagged, std::move(tag)}; }
};

/// One object that is sent in parts. Nothing is visible before complete() has succeeded; the destructor gives up an
/// upload that was not completed. The objects outlive it.
class Upload {
 public:
  virtual ~Upload() = default;
  /// Sends part `number`, from 0. Parts come in any order and from several threads at once; the last one sent of a
  /// number counts.
  virtual base::Status put(std::uint32_t number, base::ConstByteSpan bytes) = 0;
  /// Publishes the parts 0 to `parts` - 1 as one durable object, at once. PERDURE_EXISTS: the condition does not hold;
  /// then the upload stays, and may be completed under another one. PERDURE_NOT_FOUND: somebody gave it up.
  virtual base::Result<std::string> complete(std::uint32_t parts, const PutCondition& condition) = 0;
};

/// An upload that was begun, and neither completed nor given up.
struct OpenUpload {
  std::string key;
  std::string id;
  std::uint64_t age_ns = 0;
};

enum class Depth { one, all };

/// Any thread and any process may call any of these at any time. A call that fails with `retryable` may have had its
/// effect all the same: its answer was lost.
class Objects {
 public:
  explicit Objects(ObjectsProperties properties) : properties_(std::move(properties)) {}
  virtual ~Objects() = default;
  const ObjectsProperties& properties() const { return properties_; }

  /// Fills all of `target` from byte `offset` of the object that has this tag (empty: any). PERDURE_NOT_FOUND: there is
  /// no such object.
  virtual base::Status get(const std::string& key, std::uint64_t offset, base::ByteSpan target,
                           const std::string& tag) = 0;
  /// Makes the object durable, then visible, at once; returns its tag. PERDURE_EXISTS: the condition does not hold.
  virtual base::Result<std::string> put(const std::string& key, base::ConstByteSpan bytes,
                                        const PutCondition& condition) = 0;
  virtual base::Result<std::unique_ptr<Upload>> begin(const std::string& key) = 0;
  /// The objects whose keys begin with `prefix`, ascending. Depth::one: keys with a '/' behind the prefix are told
  /// once, up to that '/', as folders.
  virtual base::Result<std::vector<ObjectInfo>> list(const std::string& prefix, Depth depth) = 0;
  /// Repeatable.
  virtual base::Status remove(const std::string& key) = 0;
  /// PERDURE_NOT_FOUND: there is none.
  virtual base::Result<ObjectInfo> stat(const std::string& key) = 0;
  /// Lists the uploads of all processes whose keys begin with `prefix`.
  virtual base::Result<std::vector<OpenUpload>> uploads(const std::string& prefix) = 0;
  /// Gives an upload up, with what was sent of it. Repeatable.
  virtual base::Status abort(const OpenUpload& upload) = 0;

 private:
  const ObjectsProperties properties_;
};

/// All bytes of an object, and its tag. No value: there is none. PERDURE_CORRUPT: it has more than `most` bytes.
struct WholeObject {
  std::string text;
  std::string tag;
};
base::Result<std::optional<WholeObject>> get_whole(Objects& objects, const std::string& key, std::uint64_t most);

}  // namespace perdure::store
