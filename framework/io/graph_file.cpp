#include "framework/io/graph_file.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "framework/graph/text.h"

namespace weir::io {
namespace {

using Json = nlohmann::json;
constexpr size_t kMostHeader = size_t(1) << 30;

Json header_of(const GraphFile& file, std::vector<const graph::Buffer*>& order) {
  Json header = Json::object();
  size_t at = 0;
  std::vector<int> numbers = graph::numbers_in_text(file.graph);
  for (size_t b = 0; b < file.graph.buffers.size(); b++) {
    const graph::Buffer& buffer = file.graph.buffers[b];
    if (buffer.kind != graph::Kind::external && buffer.kind != graph::Kind::constant) continue;
    header[graph::name_in_text(numbers[b])] = {{"dtype", "U8"}, {"shape", {buffer.bytes}}, {"data_offsets", {at, at + buffer.bytes}}};
    at += buffer.bytes;
    order.push_back(&buffer);
  }
  header["__metadata__"] = {{"format", "weir.graph"}, {"version", "1"}, {"graph", graph::to_mlir(file.graph)}, {"structure", file.structure}};
  return header;
}

struct Memory {
  std::vector<char> bytes;
  size_t data = 0;  // where the tensors begin
  Json header;
};

Memory read(const std::string& path) {
  Memory m;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  check<ValueError>(in.good(), "load: cannot read ", path);
  m.bytes.resize(size_t(in.tellg()));
  in.seekg(0);
  in.read(m.bytes.data(), std::streamsize(m.bytes.size()));
  uint64_t length = 0;
  check<ValueError>(in.good() && m.bytes.size() >= 8, "load: ", path, " is no graph file: it is too short");
  std::memcpy(&length, m.bytes.data(), 8);
  check<ValueError>(length < kMostHeader && length <= m.bytes.size() - 8, "load: ", path, " is no graph file: its header is longer than it");
  m.data = 8 + length;
  m.header = Json::parse(m.bytes.data() + 8, m.bytes.data() + m.data, nullptr, false);
  check<ValueError>(m.header.is_object(), "load: ", path, " is no graph file: its header is no JSON object");
  return m;
}

std::string metadata(const Memory& m, const std::string& path, const char* name) {
  auto all = m.header.find("__metadata__");
  check<ValueError>(all != m.header.end() && all->is_object() && all->contains(name) && (*all)[name].is_string(), "load: ", path, " is no graph file: it has no ", name);
  return (*all)[name].get<std::string>();
}

StorageRef memory_of(const Memory& m, const std::string& name, size_t bytes) {
  auto entry = m.header.find(name);
  check<ValueError>(entry != m.header.end() && entry->is_object() && entry->contains("data_offsets"), "load: no tensor named ", name);
  const Json& offsets = (*entry)["data_offsets"];
  check<ValueError>(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned(), "load: ", name, " has no place");
  size_t from = offsets[0].get<size_t>(), to = offsets[1].get<size_t>(), size = m.bytes.size() - m.data;
  check<ValueError>(from <= to && to <= size && to - from == bytes, "load: ", name, " does not lie where it is said to");
  StorageRef s = new_storage(bytes);
  if (bytes) std::memcpy(s->data, m.bytes.data() + m.data + from, bytes);
  return s;
}

}  // namespace

void save_graph(const std::string& path, const GraphFile& file) {
  std::vector<const graph::Buffer*> order;
  std::string header = header_of(file, order).dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string aside = path + "." + std::to_string(getpid()) + ".part";
  {
    std::ofstream out(aside, std::ios::binary);
    uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), 8);
    out.write(header.data(), std::streamsize(header.size()));
    for (const graph::Buffer* b : order) out.write(reinterpret_cast<const char*>(b->storage->data), std::streamsize(b->bytes));
    out.flush();
    if (!out.good()) {
      std::remove(aside.c_str());
      throw Error(str("save: cannot write ", path));
    }
  }
  std::error_code failed;
  std::filesystem::rename(aside, path, failed);
  check(!failed, "save: cannot write ", path, ": ", failed.message());
}

GraphFile load_graph(const std::string& path) {
  Memory m = read(path);
  check<ValueError>(metadata(m, path, "format") == "weir.graph", "load: ", path, " holds something else than a graph");
  check<ValueError>(metadata(m, path, "version") == "1", "load: ", path, " has version ", metadata(m, path, "version"), ", this build reads version 1");
  GraphFile file;
  file.structure = metadata(m, path, "structure");
  try {
    file.graph = graph::from_mlir(metadata(m, path, "graph"), [&](const std::string& name, size_t bytes) { return memory_of(m, name, bytes); });
  } catch (const ValueError& e) {
    throw ValueError(str("load: ", path, ": ", e.what()));
  }
  return file;
}

}  // namespace weir::io
