// What PyTorch calls the nodes of ops that have other names here; programs print them.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace weir {

/// The name of the node that an op of such a name records. `axes`: how many its first input has; `third`: whether it has a third one (a bias).
inline std::string node_name(std::string_view op, int axes, bool third) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"adaptive_avg_pool_nd", "adaptive_avg_pool#d"}, {"avg_pool_nd", "avg_pool#d"}, {"batch_norm", "native_batch_norm"}, {"convolution_input", "convolution"},
      {"convolution_weight", "convolution"}, {"glu_of", "glu"}, {"group_norm", "native_group_norm"}, {"householder_parts", "linalg_householder_product"}, {"index_put_rows", "index_put"},
      {"index_rows", "index"}, {"layer_norm", "native_layer_norm"}, {"logsigmoid", "log_sigmoid"}, {"logsumexp_of", "logsumexp"}, {"lstsq_parts", "linalg_lstsq"},
      {"lu_apply", "linalg_lu_solve"}, {"matrix_exp_parts", "linalg_matrix_exp"}, {"max_pool_nd", "max_pool#d_with_indices"}, {"multi_margin_of", "multi_margin_loss"},
      {"multilabel_margin_of", "multilabel_margin_loss"}, {"norm2", "linalg_vector_norm"}, {"pad_constant", "constant_pad_nd"}, {"pinv_parts", "linalg_pinv"},
      {"power_norm", "linalg_vector_norm"}, {"segment", "segment_reduce"}, {"solve_lu", "linalg_solve_ex"}, {"squared_difference", "mse_loss"},
      {"svd_parts", "linalg_svd"}, {"triangular_apply", "linalg_solve_triangular"},
  };
  constexpr std::string_view kernel = "_forward";  // the op that a composition ends in goes by the composition's name
  if (op.ends_with(kernel)) op.remove_suffix(kernel.size());
  if (op == "linear") op = axes == 2 ? (third ? "addmm" : "mm") : third ? "view" : "unsafe_view";  // it is these there
  if (op == "nll_loss" && axes > 2) op = "nll_loss2d";
  for (const auto& [ours, theirs] : kOthers)
    if (op == ours) op = theirs;
  std::string n;
  bool first = true;  // of a word: behind a digit, too
  for (char c : op) {
    if (c == '#') c = char('0' + axes - 2);
    if (c != '_') n += first ? char(toupper(c)) : c;
    first = c == '_' || isdigit(c);
  }
  return n + "Backward0";
}

}  // namespace weir
