"""Begins to work with the first layers of a model while the others are still being read."""

import tempfile
from pathlib import Path

import numpy as np

import swath

with tempfile.TemporaryDirectory() as folder:
    shards = [Path(folder) / f"model-{number}.safetensors" for number in range(2)]
    layers = [f"layer.{number}" for number in range(12)]
    for number, shard in enumerate(shards):
        weights = {name: np.full((256, 256), 1.0, "f4") for name in layers[number::2]}
        swath.save_safetensors(shard, weights, metadata={"format": "np"})

    activation = np.ones(256, "f4")
    for name, weight in swath.stream_safetensors(shards, order=layers):
        activation = weight @ activation / 256
        print(name, float(activation[0]))
    assert activation[0] == 1

    head = swath.load_safetensors(shards, names=["layer.11"])["layer.11"]  # nothing else is read
    assert head.flags.writeable
