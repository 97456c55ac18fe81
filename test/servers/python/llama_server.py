"""Serves a model by llama.cpp's HTTP server, as xllamacpp ships it, until standard input ends.

Usage: llama_server.py MODEL PORT OPTIONS, where OPTIONS is a JSON object of members of CommonParams
"""

import json
import sys

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = int(sys.argv[2])
for name, value in json.loads(sys.argv[3]).items():
    if name == "pooling_type":
        value = getattr(xllamacpp.llama_pooling_type, value)
    setattr(parameters, name, value)
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
