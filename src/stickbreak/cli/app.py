"""The commands together, and how they end: exit code 0, 2 with one sentence for bad input, 130 for Ctrl-C."""

import shlex
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stickbreak.cli.ask import ask
from stickbreak.cli.count import count
from stickbreak.cli.demo import demo
from stickbreak.cli.fit import FitCommand, fit
from stickbreak.cli.models import compare, evaluate, label, reduce, report, topics, transform, update
from stickbreak.cli.output import complain
from stickbreak.cli.settings import advice_on
from stickbreak.exceptions import StickbreakError

_BAD_INPUT, _INTERRUPTED = 2, 130
_ARRAYS_TOO_LARGE = ("Maximum allowed size exceeded", "array is too big")  # how NumPy refuses what no machine holds
_FROM_SCIKIT_LEARN = "InvalidParameterError"  # how an estimator refuses a parameter; scikit-learn is not imported here


class _Commands(TyperGroup):
    """A group of commands that turns errors made on purpose into one sentence and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # words of any script, on a terminal of any encoding
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except Exception as error:
            # A wrong use: newer typers raise a class of their own, older ones that of click.
            if not standalone_mode or not hasattr(error, "format_message"):
                raise
            context = getattr(error, "ctx", None)
            command = getattr(context, "command_path", None) or "stickbreak"
            if (model := getattr(context, "obj", None)) is not None:  # of stickbreak ask MODEL QUESTION
                command = command.replace("{MODEL}", "MODEL").replace("MODEL", shlex.quote(str(model)), 1)
            unknown = str(getattr(error, "option_name", ""))
            advice = f"see {command} --help"
            if command == "stickbreak fit" and unknown:
                advice = f"{advice_on(unknown)}; see {command} --help-all"
            complain(f"{error.format_message().rstrip('.')}; {advice}")
            sys.exit(_BAD_INPUT)
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except StickbreakError as error:
            complain(str(error))
        except ValueError as error:
            if type(error).__name__ != _FROM_SCIKIT_LEARN and not str(error).startswith(_ARRAYS_TOO_LARGE):
                raise
            complain(_out_of_memory(error) if str(error).startswith(_ARRAYS_TOO_LARGE) else str(error))
        except OverflowError as error:
            complain(f"a number that was given is too large ({error}); give a smaller one")
        except MemoryError as error:
            complain(_out_of_memory(error))
        except BrokenPipeError:
            raise  # the reader of the output has gone: nobody is left to be told
        except OSError as error:
            complain(f"the operating system refuses: {error.strerror or error}; nothing more is written")
        except KeyboardInterrupt as error:
            complain("interrupted; nothing more is written")
            raise typer.Exit(_INTERRUPTED) from error
        raise typer.Exit(_BAD_INPUT)


def _out_of_memory(error: MemoryError | ValueError) -> str:
    """Say what was asked for, if NumPy told it."""
    asked = f" ({str(error).rstrip('.')})" if str(error) else ""
    return f"there is not enough memory{asked}; give fewer documents, words or topics, or use a larger machine"


app = typer.Typer(
    cls=_Commands,
    help="Find the topics of a collection of documents, and how many there are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=FitCommand)(fit)
app.command()(topics)
app.add_typer(ask, name="ask")
for _command in (transform, evaluate, report, label, reduce, compare, update, count, demo):
    app.command()(_command)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"stickbreak {version('stickbreak')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Find the topics of a collection of documents, and how many there are."""
