"""The options of `fit` that are parameters of a model: one for each parameter that an estimator of `METHODS` has.

Name, help, defaults and checks of an option come from the estimators. Methods that share a parameter share its option.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stickbreak.cli.groups import group_of
from stickbreak.cli.methods import METHODS
from stickbreak.cli.parameters import NOTHING, Parameter
from stickbreak.cli.stored import parameters_of_estimator
from stickbreak.cli.wording import by_method, joined
from stickbreak.exceptions import InputError

__all__ = ["OTHERWISE", "ModelOption", "is_reachable", "model_options", "parameters_of"]

OTHERWISE = {
    "random_state": "is --seed, which also draws the held-out documents, and is 0 where it is not given",
    "n_jobs": "is --jobs, which means all cores where it is not given",
    "verbose": "is what --quiet is about: the command draws the progress bar itself",
    "seeds": "is --seeds, a file",
    "scratch": "is --scratch, which is also for the workers of a cluster",
}
"""Parameters without an option of their own, with what stands for them."""

_OTHER_NAMES = {
    "n_components": ("--topics", "--components"),
    "n_topics": ("--topics", "--components"),
    "split_merge_trials": ("--split-merge",),
    "dtype": ("--precision",),
    "estimate": ("--topics-from",),
}
_SORTS = {"name": "NAME", "bool": "yes|no"}
_CODE = re.compile(r"`(\w+)`")


@dataclass(frozen=True, slots=True)
class ModelOption:
    """An option, with the parameter that it sets in each method that has it."""

    names: tuple[str, ...]
    parameters: Mapping[str, Parameter]

    @property
    def key(self) -> str:
        """Its name as an argument of the command."""
        return self.names[0].removeprefix("--").replace("-", "_")

    @property
    def group(self) -> str:
        """The group of the help that it stands in."""
        return group_of(next(iter(self.parameters.values())).name)

    @property
    def metavar(self) -> str:
        """The sort of value it takes, in capitals."""
        sorts = (
            "FILE" if kind.type == "path" else _SORTS.get(kind.type, "NUMBER") + "S" * kind.several
            for parameter in self.parameters.values()
            for kind in parameter.kinds
        )
        return "|".join(dict.fromkeys(sorts))

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it can be, or be made of, with any method."""
        words = [word for one in self.parameters.values() for word in (*one.names, *filter(None, [one.none_word]))]
        return tuple(dict.fromkeys(words))

    @property
    def takes_only_a_name(self) -> bool:
        """Whether its value is one of its choices, and nothing else."""
        return all(kind.type == "name" and not kind.several for one in self.parameters.values() for kind in one.kinds)

    @property
    def help(self) -> str:
        """What it is, its choices, its defaults and the methods that have it: by method, where they differ."""
        texts: dict[str, list[str]] = {}
        for method, parameter in self.parameters.items():
            texts.setdefault(parameter.text, []).append(method)
        first, *others = texts.items()
        said = [first[0], *(f"With {joined(methods, 'and')}: {_lower(text)}" for text, methods in others)]
        sentences = [_in_options(text) for text in said if text]
        if any(parameter.names for parameter in self.parameters.values()):
            sentences.append(f"Choices: {self._by_method(lambda one: ' | '.join(one.names))}.")
        if any(parameter.none_word for parameter in self.parameters.values()):
            words = {m: f"{one.none_word}: {one.none}" for m, one in self.parameters.items() if one.none_word}
            sentences.append(f"{by_method(words)}.")
        sentences.append(f"Default: {self._by_method(_default)}.")
        return " ".join([*sentences, *self._owners()])

    def _owners(self) -> Iterator[str]:
        """Yield a sentence on the methods that have it, if some lack it: the shorter one of the two."""
        lacking = [method for method in METHODS if method not in self.parameters]
        if len(lacking) > 2:
            yield f"Method: {joined(list(self.parameters), 'or')}."
        elif lacking:
            yield f"Not for {joined(lacking, 'and')}."

    def _by_method(self, told: Any) -> str:
        return by_method({method: told(parameter) for method, parameter in self.parameters.items()})

    def read(self, method: str, text: str) -> Any:
        """Return the value for the estimator of a method.

        Parameters
        ----------
        method : str
            A key of `METHODS`.
        text : str
            As given.

        Raises
        ------
        InputError
            If another method has the option, or the value is not one that the estimator takes.
        """
        option = self.names[0]
        if self.takes_only_a_name and text not in self.choices:
            raise InputError(f"{option} is {text!r}; give {joined(self.choices, 'or')}")
        parameter = self.parameters.get(method)
        if parameter is None:
            owners = list(self.parameters)
            way = "one of them" if len(owners) > 1 else "that method"
            raise InputError(
                f"{option} needs --method {joined(owners, 'or')}, but the method is {method}; give {way}, or leave "
                f"{option} out"
            )
        if self.takes_only_a_name and text not in parameter.names:
            known = joined(parameter.names, "or")
            raise InputError(f"{option} is {text!r}, which --method {method} does not know; give {known}")
        try:
            return parameter.read(option, text)
        except ValueError as error:
            raise InputError(f"{error} (see stickbreak fit --help-all)") from None


def model_options() -> dict[str, ModelOption]:
    """Return the options by their keys, in the order in which the estimators have their parameters."""
    found: dict[tuple[str, ...], dict[str, Parameter]] = {}
    for method, row in METHODS.items():
        for parameter in parameters_of_estimator(row.estimator).values():
            if is_reachable(parameter):
                found.setdefault(_names(parameter.name), {})[method] = parameter
    options = (ModelOption(names, parameters) for names, parameters in found.items())
    return {option.key: option for option in options}


def is_reachable(parameter: Parameter) -> bool:
    """Tell whether a parameter has an option made of it.

    All have, but for those that no command can use: what only `partial_fit` reads, what takes nothing that can be
    written on a line, or only one name alone, which is then the default; and for `OTHERWISE`.
    """
    if parameter.name in OTHERWISE or parameter.stream_only:
        return False
    return any(kind.type != "name" or kind.several or len(kind.names) > 1 for kind in parameter.kinds)


def parameters_of(method: str, given: Mapping[str, str | None]) -> dict[str, Any]:
    """Return parameters of the estimator of a method; those that are not given keep their defaults.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    given : mapping
        Key of an option -> its text; None where the option was not given.

    Raises
    ------
    InputError
        If an option belongs to another method, or the estimator does not take its value.
    """
    found = {}
    for key, option in model_options().items():
        text = given.get(key)
        if text is not None:
            value = option.read(method, text)
            found[option.parameters[method].name] = value
    return found


def _names(parameter: str) -> tuple[str, ...]:
    return _OTHER_NAMES.get(parameter) or ("--" + parameter.removeprefix("n_").replace("_", "-"),)


def _default(parameter: Parameter) -> str:
    value = parameter.default
    if value is None:
        return _in_options(parameter.none or "chosen by the method")
    if isinstance(value, tuple):
        return ",".join(map(_shown, value)) or NOTHING
    return _shown(value)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _in_options(text: str) -> str:
    """Write `n_laps` as --laps, and `fit` as fit."""
    known = {one.name for row in METHODS.values() for one in parameters_of_estimator(row.estimator).values()}
    return _CODE.sub(lambda name: _names(name[1])[0] if name[1] in known else name[1], text)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
