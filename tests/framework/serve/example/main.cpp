// Runs a saved graph without Python: example graph.weir in.bin out.bin. The files hold the bytes of all arguments and results.
#include <cstdio>
#include <fstream>

#include "framework/serve/model.h"

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: example graph.weir in.bin out.bin\n"), 2;
  try {
    weir::serve::Model model(argv[1]);
    std::ifstream in(argv[2], std::ios::binary);
    weir::Tensors args;
    for (const weir::Meta& m : model.arguments()) {
      args.push_back(weir::empty(weir::Meta(m.sizes, m.dtype)));
      in.read(reinterpret_cast<char*>(args.back().raw()), args.back().numel() * int64_t(weir::size_of(m.dtype)));
    }
    std::ofstream out(argv[3], std::ios::binary);
    for (const weir::Tensor& t : model.run(args)) out.write(reinterpret_cast<const char*>(t.raw()), t.numel() * int64_t(weir::size_of(t.dtype())));
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "example: %s\n", e.what()), 1;
  }
}
