#include "framework/op/cost.h"

#include <algorithm>
#include <vector>

namespace weir {
namespace {

constexpr int64_t kUnknown = -1;

// One place of a term: an axis or a run of axes with a letter, two letters that share an axis, or a run with its windows.
struct Place {
  char first = 0, second = 0;  // second: of a pair
  bool run = false, window = false;
};
using Term = std::vector<Place>;

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t at; (at = text.find(by)) != text.npos; text.remove_prefix(at + 1)) parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

Term term_of(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == ' ' || c == ')' || c == ']' || c == '+') continue;
    if (c == '(') term.push_back({text[i + 1], text[i + 2]}), i += 2;
    else if (c == '[') term.push_back({.first = text[i + 1], .second = text[i + 3], .run = is_capital(text[i + 1]), .window = true}), i += 3;
    else term.push_back({.first = c, .run = is_capital(c)});
  }
  return term;
}

std::vector<Term> terms_of(std::string_view text) {
  std::vector<Term> terms;
  for (std::string_view part : split(text, ',')) terms.push_back(term_of(part));
  return terms;
}

// What the letters of a formula stand for in one call: the product of the sizes of their axes, and for runs how many axes these are.
class Axes {
 public:
  void bind(const std::vector<Term>& terms, Inputs tensors) {
    for (size_t k = 0; k < std::min(terms.size(), tensors.size()); k++)
      if (tensors[k]) bind(terms[k], tensors[k].sizes());
  }
  int64_t operator[](char letter) const { return size_[int(letter)]; }
  /// Of the axes together; kUnknown where one is.
  int64_t product(std::string_view letters) const {
    int64_t n = 1;
    for (char c : letters) {
      if (c == ' ') continue;
      if ((*this)[c] == kUnknown) return kUnknown;
      n *= (*this)[c];
    }
    return n;
  }

  Axes() { std::fill(std::begin(size_), std::end(size_), kUnknown), std::fill(std::begin(axes_), std::end(axes_), int(kUnknown)); }

 private:
  void bind(const Term& term, const Dims& sizes) {
    int single = 0, known = 0;
    const Place* open = nullptr;  // the run whose number of axes is not known yet
    for (const Place& p : term) {
      if (!p.run) single++;
      else if (axes_[int(p.first)] != int(kUnknown)) known += axes_[int(p.first)];
      else if (open) return;  // of two unknown runs nothing follows
      else open = &p;
    }
    const int left = sizes.n - single - known;
    if (left < 0 || (left > 0 && !open)) return;
    if (open) {
      axes_[int(open->first)] = left;
      if (open->window) axes_[int(open->second)] = left;
    }
    int at = 0;
    for (const Place& p : term) {
      const int count = p.run ? axes_[int(p.first)] : 1;
      int64_t size = 1;
      for (int i = 0; i < count; i++) size *= sizes[at++];
      if (p.window) continue;
      if (!p.second) size_[int(p.first)] = size;
      else if (size_[int(p.first)] > 0) size_[int(p.second)] = size / size_[int(p.first)];
      else if (size_[int(p.second)] > 0) size_[int(p.first)] = size / size_[int(p.second)];
    }
  }

  int64_t size_[128];
  int axes_[128];
};

bool has(const Term& term, char letter) {
  return std::any_of(term.begin(), term.end(), [&](const Place& p) { return p.first == letter || p.second == letter; });
}

int64_t count(const std::vector<Term>& terms, char letter) {
  return std::count_if(terms.begin(), terms.end(), [&](const Term& t) { return has(t, letter); });
}

// The products of a formula, a string of letters each: as written behind "|", or of all axes where one is shared by inputs only.
std::vector<std::string> products_of(std::string_view text, const std::vector<Term>& in, const std::vector<Term>& out) {
  std::vector<std::string> products;
  if (size_t bar = text.find('|'); bar != text.npos) {
    for (std::string_view p : split(text.substr(bar + 1), '+')) products.emplace_back(p);
    return products;
  }
  std::string all;
  bool summed = false;
  for (int c = 'A'; c <= 'z'; c++) {
    const int64_t inputs = count(in, char(c));
    if (!inputs && !count(out, char(c))) continue;
    all += char(c);
    summed |= inputs > 1 && !count(out, char(c));
  }
  if (summed) products.push_back(all);
  return products;
}

int64_t most_elements(Inputs tensors) {
  int64_t most = 0;
  for (const Tensor& t : tensors)
    if (t) most = std::max(most, t.numel());
  return most;
}

int64_t bytes_of(const Tensor& t) { return t ? t.numel() * int64_t(size_of(t.dtype())) : 0; }

void count_products(Cost& cost, const Notation& notation, Inputs in, Inputs out) {
  const std::string_view text = notation.text;
  const size_t arrow = text.find("->");
  const std::vector<Term> from = terms_of(text.substr(0, arrow)), to = terms_of(text.substr(arrow + 2, text.find('|') - arrow - 2));
  const std::vector<std::string> products = products_of(text, from, to);
  if (products.empty()) return;
  Axes axes;
  for (int round = 0; round < 2; round++) axes.bind(from, in), axes.bind(to, out);  // a pair may need what a later term says
  cost.flops = 0;
  cost.product = true;
  for (const std::string& p : products) cost.flops += 2 * std::max<int64_t>(0, axes.product(p));
}

}  // namespace

Cost cost_of(const OpType& type, Inputs in, Inputs out) {
  Cost cost;
  const Notation& notation = type.notation;
  if (notation.kind == Notation::none || notation.kind == Notation::view) return cost;
  const bool computes = notation.kind != Notation::move && notation.kind != Notation::fill && notation.kind != Notation::gather;
  if (computes) cost.flops = std::max(most_elements(in), most_elements(out));
  if (notation.kind == Notation::formula) count_products(cost, notation, in, out);
  for (size_t k = 0; notation.kind != Notation::fill && k < in.size(); k++) {
    const int64_t picked = most_elements(out) * int64_t(in[k] ? size_of(in[k].dtype()) : 0);
    cost.bytes += notation.kind == Notation::gather && k == 0 ? std::min(bytes_of(in[k]), picked) : bytes_of(in[k]);
  }
  for (const Tensor& t : out) cost.bytes += bytes_of(t);
  return cost;
}

}  // namespace weir
