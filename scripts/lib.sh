# Sourced by the commands of this folder: where things are, and how they speak.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${WEIR_VENV:-$ROOT/.venv}"
BUILD="$ROOT/build/release"
cd "$ROOT"

say() { printf '\n== %s\n' "$*" >&2; }
warn() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { warn "$@"; exit 1; }

# Runs set-up, which does nothing where nothing changed, and enters the environment. Set-up speaks on stderr, so
# that the output of `scripts/run COMMAND` is the command's alone.
enter() {
  "$ROOT/scripts/setup" >&2
  export VIRTUAL_ENV="$VENV" PATH="$VENV/bin:$PATH"
  unset PYTHONHOME
}
