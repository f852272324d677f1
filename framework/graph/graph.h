// Graph: a traced program, in single-assignment form.
//
//   buffer   a piece of memory: an argument's, a parameter's, a constant's, or the program's own
//   value    what a buffer holds between two writes; each is made once, by a node or before the program starts
//   use      a value seen through a geometry, as a Tensor is a geometry over a Storage
//   node     one kernel: a copy of an op's struct, what it reads and what it makes
//
// An in-place write makes a new value of the same buffer; `old` names the value it changes, unless it covers it whole.
// Views make no nodes. Nodes stand in the order in which they run; graph/spec.h says what a legal graph is.
#pragma once
#include <memory>
#include <string>

#include "framework/op/op.h"

namespace weir::graph {

/// Where in the user's program a node was made. Strings live as long as the process.
struct Place {
  const std::string* file = nullptr;
  int line = 0;
  const std::string* module = nullptr;  // the path of the nn.Module whose forward ran
};
std::string to_string(const Place& p);

enum class Kind : uint8_t { temporary, argument, external, constant };

struct Buffer {
  Kind kind = Kind::temporary;
  size_t bytes = 0;
  Device device;
  StorageRef storage;  // of an external or a constant
  int argument = -1;   // which argument's storage
};

struct Value {
  int buffer = -1;
  int node = -1;  // that makes it; -1: it is there before the program starts
  int old = -1;   // the value of the same buffer that the node changes in part
};

struct Use {
  int value = -1;      // -1: an input that is not given
  bool blank = false;  // with value -1: given, but only its geometry counts; it lies where the node's result does
  uint32_t flags = 0;
  Meta meta;       // with the offset
};

struct Node {
  const OpType* type = nullptr;
  std::vector<std::byte> op;
  std::vector<Use> in, out;  // the value of an output is the one this node makes
  int hidden = 0;             // how many of `out`, the last ones, are inputs that the kernel changes on its own
  std::shared_ptr<const void> owner;  // of what the op's struct points to
  Place place;
};

/// Memory that a program takes as constant, and the version that it had.
struct Frozen {
  StorageRef storage;
  uint32_t version = 0;
};

/// The memory of one or more arguments.
struct Argument {
  int first = 0;      // the first argument that lies there
  int64_t base = 0;   // where it begins, in bytes of that argument's storage
  int64_t lead = 0;   // from there to the first element of that argument, in bytes
  size_t bytes = 0;
};
/// Where in its storage the first byte of a tensor lies. One of no elements may say that it begins anywhere: within the storage then.
int64_t first_byte(const Tensor& t);
/// The arguments' memory, each piece once: what they reach, or the `whole` of it. Offsets in a graph count from its base.
std::vector<Argument> memory_of(Inputs args, bool whole = false);

struct Graph {
  std::vector<Buffer> buffers;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Use> results;
  std::vector<Argument> arguments;  // by distinct memory
  std::vector<Meta> given;          // what each argument looks like, where it begins as its offset
  std::vector<Frozen> frozen;       // externals that have become constants

  int buffer_of(const Use& u) const { return values[u.value].buffer; }
  /// The last value of each buffer: what an argument or external holds after a run.
  std::vector<int> last_values() const;
  /// Buffers that are somebody else's and that the program writes.
  std::vector<int> written() const;
};

/// How a tensor shows its storage.
Use use_of(int value, const Tensor& t);
/// The tensor that shows `storage` so.
Tensor tensor_over(const StorageRef& storage, const Use& use);
/// Does the geometry reach every byte of `bytes`, each once?
bool covers(const Use& use, size_t bytes);
/// An op's attributes as "dim=1, keepdim=False".
std::string attributes_of(const OpType& type, const void* op);

/// One line per node: what it makes, the op, what it reads, where it comes from.
std::string to_string(const Graph& g);

}  // namespace weir::graph
