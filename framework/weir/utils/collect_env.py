"""Facts of the machine and the installation, as text."""
import platform
import sys

import weir


def get_env_info():
    """name -> fact"""
    return {"weir": weir.__version__, "python": sys.version.replace("\n", " "), "platform": platform.platform(),
            "is_cuda_available": False, "threads": weir.get_num_threads()}


def get_pretty_env_info():
    return "\n".join(f"{k}: {v}" for k, v in get_env_info().items())


def main():
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
