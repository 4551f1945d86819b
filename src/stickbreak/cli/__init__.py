"""The command line: each command parses, calls the library and prints."""

__all__ = ["main"]


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    from stickbreak.cli.app import app
    from stickbreak.cli.notices import tell_notices

    tell_notices()
    app(prog_name="stickbreak")
