// What a legal graph is. Every pass takes one and leaves one.
#pragma once
#include "framework/graph/graph.h"

namespace weir::graph {

/// Raises RuntimeError, naming the node, unless:
///  1. every use names a value that exists, and every value a buffer that exists;
///  2. a value is made by one output of the node it names, or by none and is the first of its buffer;
///  3. a node reads only values made before it, and no value that a later one of the same buffer has replaced;
///  4. `old` of a value is the value of the same buffer before it, and stands there unless the new one covers the buffer;
///  5. a temporary buffer has no value before the program starts, an argument, external or constant has;
///  6. constants are never written;
///  7. a geometry stays within its buffer;
///  8. the op of a node is a kernel op that has a kernel on its device, and its struct has the op's size.
void check_legal(const Graph& g);
/// The same, if WEIR_CHECK_GRAPH=1 stands in the environment.
void check_if_asked(const Graph& g);

}  // namespace weir::graph
