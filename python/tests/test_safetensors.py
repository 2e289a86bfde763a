"""Tensors are those that the format's own library reads and writes, and come in the order asked for."""

from __future__ import annotations

import gc
import json
import os
import warnings
import struct
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import battery
import swath

np = pytest.importorskip("numpy")
reference = pytest.importorskip("safetensors.numpy")

KINDS = ["bool", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "c8", "u8", "i8", "f8"]


def some_tensors(seed, count=20):
    generator = np.random.default_rng(seed)
    tensors = {}
    for number in range(count):
        shape = tuple(generator.integers(0, 7, size=number % 4))
        raw = generator.integers(0, 2, size=shape) * 3
        tensors[f"layer.{number}.w\u00e9ight"] = np.asarray(raw).astype(KINDS[number % len(KINDS)])
    return tensors


def same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        assert ours[name].dtype == tensor.dtype and ours[name].shape == tensor.shape, name
        assert ours[name].tobytes() == tensor.tobytes(), name


@pytest.mark.parametrize("seed", range(5))
def test_what_the_reference_writes_is_read_as_it_reads_it(tmp_path, seed):
    path = tmp_path / "model.safetensors"
    reference.save_file(some_tensors(seed), path)
    tensors = swath.load_safetensors(path)
    same(tensors, reference.load_file(path))
    for tensor in tensors.values():
        assert tensor.flags.writeable and tensor.flags.aligned
    same(dict(swath.stream_safetensors(path)), reference.load_file(path))


def test_a_folder_or_a_pattern_means_the_shards_in_it(tmp_path):
    one, two = {"a": np.arange(3)}, {"b": np.arange(4.0)}
    reference.save_file(one, tmp_path / "model-1.safetensors")
    reference.save_file(two, tmp_path / "model-2.safetensors")
    (tmp_path / "config.json").write_text("{}")
    for given in (tmp_path, str(tmp_path / "*.safetensors"), os.fsencode(tmp_path)):
        same(swath.load_safetensors(given), {**one, **two})
        same(dict(swath.stream_safetensors(given)), {**one, **two})
    # The index knows which of the shards are the model.
    reference.save_file(two, tmp_path / "consolidated.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}))
    same(swath.load_safetensors(tmp_path), {**one, **two})
    (tmp_path / "fp16.safetensors.index.json").write_bytes(index.read_bytes())
    with pytest.raises(ValueError, match="2 indices; try: pass the path of one"):
        swath.load_safetensors(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        swath.load_safetensors(str(tmp_path / "*.bin"))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_what_the_reference_writes(tmp_path, seed):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    tensors = some_tensors(seed)
    assert swath.save_safetensors(ours, tensors, metadata={"made": "by a test"}) == ours.stat().st_size
    reference.save_file(tensors, theirs, {"made": "by a test"})
    same(reference.load_file(ours), tensors)
    assert ours.read_bytes() == theirs.read_bytes()
    swath.save_safetensors(ours, dict(reversed(tensors.items())), metadata={"made": "by a test"}, workers=3)
    assert ours.read_bytes() == theirs.read_bytes(), "in whichever order they come"


@settings(
    max_examples=battery.count(part=10, full=400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    tensors=st.dictionaries(
        st.text(max_size=20).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(KINDS), st.lists(st.integers(0, 4), max_size=4)),
    )
)
def test_any_names_and_shapes_come_back(tmp_path, tensors):
    path = tmp_path / "model.safetensors"
    made = {
        name: np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
        for name, (kind, shape) in tensors.items()
    }
    swath.save_safetensors(path, made)
    same(swath.load_safetensors(path), made)


def test_arrays_of_any_order_in_memory(tmp_path):
    path = tmp_path / "model.safetensors"
    base = np.arange(24.0).reshape(4, 6)
    tensors = {
        "fortran": np.asfortranarray(base),
        "strided": base[::2, ::3],
        "turned": base.T,
        "big-endian": base.astype(">f8"),
        "scalar": np.float32(3),
        "empty": np.zeros((3, 0, 2), "i4"),
    }
    swath.save_safetensors(path, tensors)
    for name, tensor in swath.load_safetensors(path).items():
        np.testing.assert_array_equal(tensor, tensors[name])


def test_what_a_callback_raises_at_the_last_byte_is_raised(tmp_path):
    path = tmp_path / "model.safetensors"
    swath.save_safetensors(path, some_tensors(5, 4))

    class Late(Exception):
        pass

    def stop(done, total):
        if done == total:
            raise Late

    with pytest.raises((Late, swath.CancelledError)):
        list(swath.stream_safetensors(path, progress=stop))
    with pytest.raises(Late):
        swath.load_safetensors(path, progress=stop)


def test_shards_orders_and_names(tmp_path):
    tensors = some_tensors(7, 30)
    names = list(tensors)
    paths = [tmp_path / f"model-{number}.safetensors" for number in range(3)]
    for number, path in enumerate(paths):
        swath.save_safetensors(path, {name: tensors[name] for name in names[number::3]})
    same(swath.load_safetensors(paths), tensors)
    index = tmp_path / "model.safetensors.index.json"
    weights = {name: paths[number % 3].name for number, name in enumerate(names)}
    index.write_text(json.dumps({"metadata": {}, "weight_map": weights}))
    same(swath.load_safetensors(index), tensors)
    wanted = [names[17], names[2], names[9]]
    some = swath.load_safetensors(paths, names=wanted, order=wanted)
    assert list(some) == wanted
    same(some, {name: tensors[name] for name in wanted})
    streamed = list(swath.stream_safetensors(paths, order=wanted, workers=2))
    assert [name for name, _ in streamed[:3]] == wanted
    same(dict(streamed), tensors)
    assert list(swath.load_safetensors(paths, order=wanted))[:3] == wanted
    assert list(swath.load_safetensors(iter(paths), order=iter(wanted)))[:3] == wanted
    told = []
    for verb, how in [
        (swath.load_safetensors, {"order": ["nothing"]}),
        (swath.load_safetensors, {"names": ["nothing"]}),
        (swath.load_safetensors, {"names": wanted, "order": ["nothing"]}),
        (swath.load_safetensors, {"names": wanted[:1], "order": wanted}),
        (swath.stream_safetensors, {"order": ["nothing"]}),
    ]:
        with pytest.raises(swath.Error, match="there is no tensor") as raised:
            verb(paths, progress=lambda done, total: told.append(done), **how)
        assert isinstance(raised.value, ValueError) and raised.value.filename == str(paths[0])
    assert not told, "nothing is read before it is refused"
    for verb in [swath.load_safetensors, swath.stream_safetensors]:
        for word in ["names", "order"]:
            with pytest.raises(TypeError, match=f"{word}=.* is a name, not a list"):
                verb(paths, **{word: names[0]})
        with pytest.raises(TypeError, match=rf"{verb.__name__}\(\) has no keyword foo="):
            verb(paths, foo=1)
    with open(paths[0], "rb") as file:
        assert swath.load_safetensors(file).keys() == swath.load_safetensors(paths[0]).keys()
    with pytest.raises(swath.Error, match="layer"):
        swath.load_safetensors([paths[0], paths[0]])


@pytest.mark.parametrize("shape", [[2**63, 0], [1] * 100])
def test_a_shape_that_numpy_has_not_is_told_with_path_and_name(tmp_path, shape):
    length = 0 if 0 in shape else 1
    header = {"odd": {"dtype": "U8", "shape": shape, "data_offsets": [0, length]}}
    text = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(length))
    for verb in [swath.load_safetensors, lambda path: list(swath.stream_safetensors(path))]:
        with pytest.raises(swath.MalformedError, match="'odd'") as raised:
            verb(path)
        assert raised.value.filename == str(path)


def test_tensors_outlive_what_they_came_with(tmp_path):
    path = tmp_path / "model.safetensors"
    made = {str(number): np.full(100_000, number, "f8") for number in range(20)}
    swath.save_safetensors(path, made)
    kept = swath.load_safetensors(path)["7"]
    stream = swath.stream_safetensors(path, order=["13"])
    _, first = next(stream)
    stream.close()
    del stream
    gc.collect()
    swath.load_safetensors(path)
    assert (kept == 7).all() and (first == 13).all()
    assert kept.flags.writeable and not first.flags.writeable
    kept[:] = 1
    assert (swath.load_safetensors(path)["7"] == 7).all()


def test_bfloat16_and_float8(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    path = tmp_path / "model.safetensors"
    kinds = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"]
    made = {kind: np.array([0.5, 1, 2], getattr(ml_dtypes, kind)) for kind in kinds}
    swath.save_safetensors(path, made)
    same(swath.load_safetensors(path), made)
    script = f"""
import sys
sys.modules["ml_dtypes"] = None
import swath
try:
    swath.load_safetensors({str(path)!r})
except TypeError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install ml_dtypes" in run.stdout, run.stderr


def test_without_torch_the_error_says_what_to_install(tmp_path):
    path = tmp_path / "model.safetensors"
    swath.save_safetensors(path, {"a": np.zeros(2)})
    script = f"""
import sys
sys.modules["torch"] = None
import swath
for verb in [swath.load_safetensors, swath.stream_safetensors]:
    for path in [{str(path)!r}, "nowhere"]:
        try:
            verb(path, framework="pt")
        except ImportError as error:
            print(error.name, error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    told = "torch framework='pt' needs torch, which is not installed; try: run pip install torch, or "
    assert run.stdout.count(told) == 4, run


def test_torch(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.safetensors"
    made = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(3, dtype=torch.bfloat16)}
    swath.save_safetensors(path, made)
    tensors = swath.load_safetensors(path, framework="torch")
    assert all(torch.equal(tensors[name], made[name]) for name in made)


def header(text, data=b""):
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw + data


HOSTILE = {
    "empty": b"",
    "short": b"\x01\x02",
    "long": struct.pack("<Q", 2**63) + b"{}",
    "no JSON": header("[]"),
    "twice": header(
        '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
        '"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
        b"x",
    ),
    "hole": header('{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"xy"),
    "overlap": header(
        '{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},'
        '"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}',
        b"xyz",
    ),
    "left over": header('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"xy"),
    "missing": header('{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}', b"xy"),
    "overflow": header(
        '{"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}}'
    ),
    "another length": header('{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}', b"x" * 8),
    "no dtype": header('{"a":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}}', b"x"),
    "no UTF-8": header(b'{"\xff":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"),
}


def test_tensors_of_torch_without_warnings_in_every_guise(tmp_path):
    torch = pytest.importorskip("torch")

    class Mine(torch.Tensor):
        pass

    path = tmp_path / "model.safetensors"
    made = torch.view_as_complex(torch.arange(8.0).reshape(4, 2))
    whole = {
        "conjugate": made.conj(),
        "negative": torch.imag(made.conj()),
        "mine": torch.ones(3, dtype=torch.bfloat16).as_subclass(Mine),
    }
    swath.save_safetensors(path, whole)
    with pytest.raises(TypeError, match="'sparse'"):
        swath.save_safetensors(path, {"sparse": torch.eye(3).to_sparse()})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = dict(swath.stream_safetensors(path, framework="torch"))
    for name, tensor in whole.items():
        assert torch.equal(read[name], torch.as_tensor(tensor).resolve_conj().resolve_neg()), name


@pytest.mark.parametrize("name", HOSTILE)
def test_what_the_reference_refuses_is_refused(tmp_path, name):
    path = tmp_path / "model.safetensors"
    path.write_bytes(HOSTILE[name])
    if name != "twice":
        with pytest.raises(Exception):
            reference.load_file(path)
    for verb in [swath.load_safetensors, lambda path: list(swath.stream_safetensors(path))]:
        with pytest.raises(swath.Error) as raised:
            verb(path)
        assert raised.value.filename == str(path)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "model.safetensors"
    for wrong in [{"a": np.array(["x"])}, {"a": np.zeros(2, "f16")}, {"a": np.zeros(2, "M8[s]")}]:
        with pytest.raises(TypeError, match="'a'"):
            swath.save_safetensors(path, wrong)
    with pytest.raises(swath.Error):
        swath.save_safetensors(path, {"__metadata__": np.zeros(1)})
    assert not path.exists()
    with pytest.raises(ValueError, match="framework"):
        swath.load_safetensors(path, framework="jax")
    with pytest.raises(FileNotFoundError):
        swath.load_safetensors(path)
