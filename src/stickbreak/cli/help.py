"""The help of `fit` in two lengths: `--help` shows what most people need first, `--help-all` has all by subject."""

from collections.abc import Iterable
from copy import copy
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from stickbreak.cli.groups import GROUPS

__all__ = ["FIRST", "BriefCommand", "HelpAll"]

FIRST = (
    "input", "out", "method", "topics", "seeds", "laps", "held_out", "text_field", "stop_words", "min_df", "max_df",
    "jobs", "seed", "config", "force", "verbose", "json", "help_all",
)  # fmt: skip
"""Arguments on the first screen, in this order."""

SHORT = {
    "topics": "Number of topics. By default the fit finds it.",
    "seeds": "File of words of topics that you expect: TOML, or JSON.",
    "laps": "Maximum number of passes. Default: 1000.",
}
"""What the first screen says of options about which the methods differ; `--help-all` has all of it."""

_ALL = "stickbreak.help_all"


class BriefCommand(TyperCommand):
    """A command whose help has the options of `FIRST` alone, in one panel, unless `--help-all` asks for the others."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help: that of a copy which has only the options to be shown."""
        shown = copy(self)
        shown.params = list(_by_subject(self.params) if ctx.meta.get(_ALL) else _first(self.params))
        super(BriefCommand, shown).format_help(ctx, formatter)


def _first(params: Iterable[Any]) -> Iterable[Any]:
    """Yield the options of the first screen, without subjects, ranges and second names."""
    known = {param.name: param for param in params}
    for name in FIRST:
        param = copy(known[name])
        param.rich_help_panel = param.min = param.max = None
        param.help = SHORT.get(name, param.help)
        param.opts = [option for option in param.opts if option == param.opts[0] or not option.startswith("--")]
        yield param


def _by_subject(params: Iterable[Any]) -> list[Any]:
    """Return all options, in the order of their subjects."""
    order = {group: place for place, group in enumerate(GROUPS)}
    return sorted(params, key=lambda param: order.get(param.rich_help_panel, 0))


def _show_all(ctx: typer.Context, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show every option, by subject, and exit.")
]
