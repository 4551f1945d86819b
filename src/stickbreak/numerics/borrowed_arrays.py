"""Arrays that a kernel does not count its references to.

Numba counts the references to an array as Python does: a function that is handed one, or takes one out of a tuple, adds
one and takes it away at its end. Both are atomic, and wait. A draw that passes twenty arrays from function to function
spends more time on that than on the draw. Where calls are inlined (`forceinline=True`) and arrays are borrowed, nothing
is counted at all. A whole fit of `BackoffTreeTopics` takes 1.5 times as long without, one of `GibbsHDP` 1.2 times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import unpack_tuple
from numba.core.errors import TypingError
from numba.core.ir_utils import alias_func_extensions
from numba.extending import intrinsic

Arrays = TypeVar("Arrays")


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return a value whose arrays say that nobody owns their memory: there is nothing to count."""
    if isinstance(kind, types.BaseTuple):
        kinds, values = cast(Any, kind), cast(Any, unpack_tuple)(builder, value)
        parts = [_without_owner(context, builder, *part) for part in zip(kinds, values, strict=True)]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(kind, types.Array):
        if context.data_model_manager[kind].contains_nrt_meminfo():
            raise TypingError(f"{kind} cannot be borrowed; borrow arrays, and tuples of arrays and numbers")
        return value
    place = context.make_array(kind)(context, builder, value)
    for name in ("meminfo", "parent"):
        setattr(place, name, ir.Constant(getattr(place, name).type, None))
    return place._getvalue()


def _borrowed(typing_context: Any, arrays: Any) -> Any:
    """Return an array, or a tuple of arrays, as it is; references to it are not counted.

    For arguments of a kernel that Python calls, once at its beginning: the caller holds them until it returns. A
    borrowed array must not be returned to Python.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _without_owner(context, builder, signature.args[0], args[0])

    return arrays(arrays), generate


borrowed: Callable[[Arrays], Arrays] = cast(Any, intrinsic)(_borrowed)


def _are_arguments(name: str, arguments: Any, aliases: Any, of_arguments: set[str]) -> None:
    """Say that what was borrowed is an argument's: Numba drops what is stored in arrays that nobody else can see."""
    of_arguments.add(name)


alias_func_extensions[_borrowed.__name__, __name__] = _are_arguments
