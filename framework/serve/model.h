// Inference in C++: a graph that Python saved, run without Python.
//
//   weir::serve::Model model("resnet50.weir");
//   weir::Tensors out = model.run({image});
//
// A model's runs wait for each other; load it twice to run it twice at once.
#pragma once
#include "framework/graph/plan.h"

namespace weir::serve {

class Model {
 public:
  /// Opens the CPU kernels, reads the file and makes the plan. ValueError for a file that is no graph.
  explicit Model(const std::string& path);
  /// What each argument must look like.
  const std::vector<Meta>& arguments() const { return plan_->graph().given; }
  size_t num_results() const { return plan_->graph().results.size(); }
  /// How the writer nested arguments and results.
  const std::string& structure() const { return structure_; }
  /// ValueError unless `args` have the dtypes and shapes of `arguments`; other layouts are copied.
  Tensors run(const Tensors& args);
  const graph::Plan& plan() const { return *plan_; }

 private:
  std::string structure_;
  std::unique_ptr<graph::Plan> plan_;
};

}  // namespace weir::serve
