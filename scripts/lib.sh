# Sourced by the commands of this folder: where things are, and how they speak.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${WEIR_VENV:-$ROOT/.venv}"
BUILD="$ROOT/build/release"
MIN_GCC=12
JOBS="${WEIR_JOBS:-$(nproc)}"
cd "$ROOT"

say() { printf '\n== %s\n' "$*" >&2; }
warn() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { warn "$@"; exit 1; }

hash_of() { cat "$@" | sha256sum | cut -d' ' -f1; }
# A stamp holds what a step was done for, so that the step runs again exactly when that changes.
done_for() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

gcc_is_new_enough() { [ "$("$1" -dumpversion 2>/dev/null | cut -d. -f1)" -ge "$MIN_GCC" ] 2>/dev/null; }
find_compiler() {
  for candidate in ${CXX:-g++ g++-15 g++-14 g++-13 g++-12}; do
    if gcc_is_new_enough "$candidate"; then command -v "$candidate"; return; fi
  done
}

# The instruction set of the CPU kernels that weir loads here, as framework/kernels/load.cpp chooses it: the widest that the machine has, or
# what WEIR_CPU_CAPABILITY names.
kernel_set() {
  local flags
  flags="$(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null) "
  has() { for flag in "$@"; do [[ $flags == *" $flag "* ]] || return 1; done; }
  if [ -n "${WEIR_CPU_CAPABILITY:-}" ]; then echo "$WEIR_CPU_CAPABILITY"
  elif ! has avx2 bmi1 bmi2 f16c fma abm movbe; then echo baseline
  elif ! has avx512f avx512bw avx512cd avx512dq avx512vl; then echo avx2
  else echo avx512
  fi
}

# Runs set-up, which does nothing where nothing changed, and enters the environment. Set-up speaks on stderr, so
# that the output of `scripts/run COMMAND` is the command's alone.
enter() {
  "$ROOT/scripts/setup" >&2
  CXX="$(find_compiler)"
  export CXX VIRTUAL_ENV="$VENV" PATH="$VENV/bin:$PATH"
  unset PYTHONHOME
}

# Sets `tests` to pytest's arguments: what is named or, of all tests, a process per core (at most eight), each of which takes over
# what another has not begun.
choose_tests() {
  tests=("$@")
  [ $# = 0 ] || return 0
  tests=(-n "$((JOBS < 8 ? JOBS : 8))" --dist worksteal tests)
  export OMP_WAIT_POLICY=passive  # waiting threads of one process must not keep another's from working
}
