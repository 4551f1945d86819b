"""The command line: each command parses, calls the library and prints."""

__all__ = ["main"]


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    import os
    import sys

    from stickbreak.cli.app import app
    from stickbreak.cli.output import tell_notices

    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by who started us
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))
    tell_notices()
    app(prog_name="stickbreak")
