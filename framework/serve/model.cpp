#include "framework/serve/model.h"

#include "framework/graph/passes.h"
#include "framework/io/graph_file.h"
#include "framework/kernels/load.h"
#include "framework/op/copy.h"

namespace weir::serve {

Model::Model(const std::string& path) {
  load_cpu_kernels();
  io::GraphFile file = io::load_graph(path);
  structure_ = std::move(file.structure);
  graph::Options options;
  options.freeze_weights = true;
  graph::Graph g = graph::optimized(file.graph, options);
  g.frozen.clear();  // nobody else can write them, and what is read in another form need not stay
  plan_ = std::make_unique<graph::Plan>(std::move(g));
}

Tensors Model::run(const Tensors& args) {
  const std::vector<Meta>& wanted = arguments();
  check<ValueError>(args.size() == wanted.size(), "Model::run: expected ", wanted.size(), " arguments, got ", args.size());
  GradMode off(false);
  Tensors in;
  for (size_t i = 0; i < args.size(); i++) {
    const Meta& m = wanted[i];
    check<ValueError>(args[i] && args[i].dtype() == m.dtype && args[i].sizes() == m.sizes, "Model::run: argument ", i, ": expected ",
                      name_of(m.dtype), " of ", m.sizes, args[i] ? str(", got ", name_of(args[i].dtype()), " of ", args[i].sizes()) : "");
    in.push_back(args[i]);
    if (same_layout(m.sizes, args[i].strides(), m.strides) && !(args[i]->flags & kMarks)) continue;
    in.back() = empty(Meta(m.sizes, m.strides, m.dtype, m.device));
    copy_into(in.back(), args[i]);
  }
  return plan_->run(in);
}

}  // namespace weir::serve
