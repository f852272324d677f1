// Index notation: how the elements of an op's results come from those of its inputs. What splits an op across devices and what counts its
// work read it; neither knows an op by name.
//
//   pointwise     each element from the elements in its place, broadcast
//   elements      the same without broadcasting: all tensors have one geometry
//   view          no element moves
//   fill          results are written from numbers alone
//   move          elements of the inputs in other places
//   gather        elements of the first input, picked by an index
//   scatter       elements put where an index says
//   window        each element from those of a window
//   reduce dim    elements along the axes `dim` become one; without `dim`, all; "linear": a sum, so that parts of it can be added up
//   along dim     each line along `dim` on its own
//   matrices      each matrix of the last two axes on its own
//   n m, m p -> n p        a formula: the axes of each tensor, in order
//
// In a formula a small letter is one axis, n and b in front of a result's an axis of examples, each on its own, a capital any number of axes, (ga) one axis of two that belong together, [D+K] axes along which windows of
// K pass, giving D. Axes that two inputs share and no result has are multiplied and summed. Where the products are others than those of all
// axes, they follow: "... -> ... | bqke + bqkv".
#pragma once
#include <cstdint>
#include <string_view>

namespace weir {

struct Notation {
  enum Kind : uint8_t { none, pointwise, elements, view, fill, move, gather, scatter, window, reduce, along, matrices, formula };
  Kind kind = none;
  const char* text = "";

  consteval Notation() = default;
  consteval Notation(const char* t) : kind(kind_of(t)), text(t) {}

 private:
  static consteval Kind kind_of(std::string_view t) {
    if (t.empty()) return none;
    if (t.find("->") != t.npos) return check_formula(t), formula;
    constexpr struct { std::string_view word; Kind kind; } kWords[] = {
        {"pointwise", pointwise}, {"elements", elements}, {"view", view}, {"fill", fill}, {"move", move}, {"gather", gather},
        {"scatter", scatter}, {"window", window}, {"reduce", reduce}, {"along", along}, {"matrices", matrices}};
    for (auto [word, kind] : kWords)
      if (t.substr(0, t.find(' ')) == word) return kind;
    throw "unknown notation";
  }
  static consteval void check_formula(std::string_view t) {
    int open = 0;
    for (char c : t) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && std::string_view(" ,()[]+->|").find(c) == std::string_view::npos) throw "a formula has letters, brackets and commas";
      open += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (open < 0 || open > 1) throw "brackets of a formula do not match";
    }
    if (open) throw "brackets of a formula do not match";
  }
};

}  // namespace weir
