"""Memory that the ranks of a machine share, for `swath.mpi.read_shared`."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

import swath
from swath import _ranks

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from swath._swath import _Path


class Shared:
    """The bytes of a file in memory that all ranks of a machine share, as `read_shared` returns them.

    As a context manager, it frees the memory at the end of the block.

    >>> from mpi4py import MPI
    >>> with swath.mpi.read_shared(MPI.COMM_SELF, "words.txt") as shared:
    ...     bytes(shared.data[:3])
    b'one'
    """

    def __init__(self, node: Any, window: Any, place: tuple[int, int]) -> None:
        self._node, self._window = node, window
        self._place = place
        self._view()

    def _view(self) -> None:
        """Creates an owner of the bytes, which every view and array of them keeps alive."""
        from swath._numpy import np

        address, length = self._place
        # A separate class allows weak references.
        kind: Any = type("Memory", (ctypes.c_ubyte * length,), {})
        memory = kind.from_address(address) if length else kind()
        self._owner = weakref.ref(memory)
        made: Any = np.frombuffer(memory, np.uint8) if length else np.empty(0, np.uint8)
        made.flags.writeable = False
        self._data: memoryview | None = memoryview(made)

    @property
    def data(self) -> memoryview:
        """The bytes, read-only and not copied."""
        if self._data is None:
            raise ValueError("the shared memory was freed; try: read the file again")
        return self._data

    def array(self, dtype: Any = "u1") -> Any:
        """Returns the bytes as a read-only numpy array, not copied.

        >>> from mpi4py import MPI
        >>> with swath.mpi.read_shared(MPI.COMM_SELF, "data.f8") as shared:
        ...     float(shared.array("f8").sum())
        499500.0
        """
        from swath._numpy import np

        return np.frombuffer(self.data, dtype)

    def free(self) -> None:
        """Frees the memory. Collective: all ranks of the machine call it, once none uses its arrays.

        Raises
        ------
        BufferError
            On all ranks, if one still has an array or a view of the bytes; nothing is freed then.
        """
        if self._window is None:
            return
        self._data = None
        try:
            with _ranks.together(self._node):
                if self._owner() is not None:
                    raise BufferError(
                        "arrays or views of the shared bytes are in use; "
                        "try: delete them on all ranks, then free the memory"
                    )
        except BaseException:
            self._view()
            raise
        window, node, self._window = self._window, self._node, None
        window.Free()
        node.Free()

    def __len__(self) -> int:
        return self._place[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        # After an exception on one rank, the others may be anywhere.
        if kind is None:
            self.free()


def shared_of(comm: Any, path: _Path, workers: int) -> Shared:
    """Reads a file once on each machine."""
    share = _ranks.Share(comm, path)
    node = _ranks.node_of(comm)
    reads = node.rank == 0
    with _ranks.together(comm):
        from swath._numpy import np as _

        if reads:
            _ranks.check_room(path, share.length)
    window = _ranks.mpi().Win.Allocate_shared(share.length if reads else 0, 1, comm=node)
    memory = window.Shared_query(0)[0]
    window.Fence()
    error: BaseException | None = None
    try:
        if reads and share.length:
            swath.read(share.open(), out=memoryview(memory).cast("B")[: share.length], workers=workers)
        share.check()
    except BaseException as caught:
        error = caught
    window.Fence()
    try:
        _ranks.agree(comm, error)
    except BaseException:
        window.Free()
        node.Free()
        raise
    return Shared(node, window, (memory.address, share.length))
