"""Asking the processor for memory that a kernel will read soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_item_pointer, get_or_insert_function, unpack_tuple
from numba.extending import intrinsic

_READ, _KEEP, _DATA = 0, 3, 1  # what LLVM calls rw, locality and cache type


def _prefetch(typing_context: Any, array: Any, i: Any) -> Any:
    """Start loading array[i], or the beginning of row i; changes nothing, and does not wait. A place may be (i, j).

    Worth it where places are known well before they are read, and lie so far apart that the processor cannot guess.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_type, index_type = signature.args
        place = context.make_array(array_type)(context, builder, args[0])
        several = isinstance(index_type, types.BaseTuple)
        given = zip(unpack_tuple(builder, args[1]), index_type, strict=True) if several else [(args[1], index_type)]
        index = [context.cast(builder, value, kind, types.intp) for value, kind in given]
        rest = [context.get_constant(types.intp, 0)] * (array_type.ndim - len(index))
        at = get_item_pointer(context, builder, array_type, place, [*index, *rest], wraparound=False)
        pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
        function = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [builder.bitcast(at, pointer), word(_READ), word(_KEEP), word(_DATA)])
        return context.get_dummy_value()

    return types.void(array, i), generate


prefetch: Callable[[Any, Any], None] = cast(Any, intrinsic)(_prefetch)
