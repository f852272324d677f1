// A batch norm of training as two nodes: one that finds statistics, and one that normalises from them.
#pragma once
#include "framework/graph/graph.h"

namespace weir::graph {

/// Does normalising once more from what batch_norm_forward or batch_norm_relu saved round alike? Running statistics with gaps make them round otherwise.
bool rounds_alike_again(const Node& norm);
/// batch_norm_statistics in its place.
Node statistics_alone(const Node& norm);
/// batch_norm_apply in its place, from the statistics that it saves; changes nothing else.
Node applied_again(const Node& norm);

}  // namespace weir::graph
