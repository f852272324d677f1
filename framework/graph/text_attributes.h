// What text.cpp and text_reader.cpp share: attributes of ops in MLIR's syntax, and the words of the format.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "framework/op/op.h"

namespace weir::graph {

constexpr int kFormat = 1;
constexpr uint32_t kBlank = 1 << 30;  // among the flags of a geometry: no operand belongs to it
constexpr const char* kKinds[] = {"temporary", "argument", "external", "constant"};

/// A parsed attribute: a number, a truth, a text, a list or a dictionary.
struct Attribute {
  enum class Kind : uint8_t { integer, real, truth, text, list, dictionary } kind = Kind::integer;
  int64_t i = 0;
  double d = 0;
  std::string s;
  std::vector<Attribute> items;
  std::vector<std::string> names;  // of a dictionary's items

  /// ValueError unless it is of that kind.
  int64_t integer() const;
  double real() const;
  bool truth() const;
  const std::string& text() const;
  const std::vector<Attribute>& list() const;
  /// Null where a dictionary has no such name.
  const Attribute* find(const std::string& name) const;
  const Attribute& at(const std::string& name) const;
};

std::string quoted(const std::string& s);
/// "dim = 1 : i64, keepdim = false"; what is None is left out.
std::string written_attributes(const OpType& type, const std::byte* op);
/// Fills an op's struct. Attributes that are left out are None. ValueError for names that the op has not and values that do not fit.
void read_attributes(const OpType& type, const Attribute& from, std::byte* op);

}  // namespace weir::graph
