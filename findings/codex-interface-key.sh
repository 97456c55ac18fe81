#!/bin/sh
# @openai/codex 0.171.0: the interface (`codex`, not `codex exec`) leaves a process behind, its app-server daemon, which runs the requests of
# every later interface with the environment of the first one. A provider's `env_key` is read there: after the variable has changed, in a new
# terminal too, the former key is sent until `codex app-server daemon stop`.
#
# Seen: an interface with X_KEY=first, closed; one with X_KEY=second sends "Bearer first"; after the stop, "Bearer second".
# Exits with 1 when that changes. Needs python3.
set -eu
folder=$(mktemp -d)
clean() {
  CODEX_HOME="$folder/home" "$folder/node_modules/.bin/codex" app-server daemon stop >/dev/null 2>&1 || true
  # What looks for updates of the daemon outlives it.
  for file in "$folder"/home/app-server-daemon/*.pid; do
    kill "$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$file")" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap clean EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" @openai/codex@0.171.0 >/dev/null
cat > run.py <<'PY'
import fcntl, http.server, json, os, pty, select, signal, struct, subprocess, sys, termios, threading, time

keys = []
ITEM = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Hi.", "annotations": []}]}
ANSWER = {"id": "resp_1", "object": "response", "status": "completed", "output": [ITEM], "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
EVENTS = [
    {"type": "response.created", "response": {**ANSWER, "status": "in_progress", "output": []}},
    {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
    {"type": "response.completed", "response": ANSWER},
]

class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        keys.append(self.headers["authorization"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in EVENTS:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
here = os.getcwd()
os.makedirs("home")
os.makedirs("project")
with open("home/config.toml", "w") as config:
    config.write(
        f'model = "m"\nmodel_provider = "x"\ncheck_for_update_on_startup = false\n[model_providers.x]\nname = "X"\n'
        f'base_url = "http://127.0.0.1:{server.server_port}/v1"\nwire_api = "responses"\nenv_key = "X_KEY"\n'
        f'[projects."{here}/project"]\ntrust_level = "trusted"\n'
    )
codex = f"{here}/node_modules/.bin/codex"

def env(key):
    return {**os.environ, "CODEX_HOME": f"{here}/home", "HOME": f"{here}/home", "X_KEY": key, "TERM": "xterm-256color"}

def interface(key):
    """Says hi in an interface. Returns the keys that came, at most 60 s later."""
    keys.clear()
    child, terminal = pty.fork()
    if child == 0:
        os.chdir("project")
        os.execve(codex, [codex, "say hi"], env(key))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    end = time.time() + 60
    while time.time() < end and not keys:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        asked = os.read(terminal, 65536)
        if b"\x1b[6n" in asked:  # where the cursor is
            os.write(terminal, b"\x1b[1;1R")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    return sorted(set(keys))

first, second = interface("first"), interface("second")
subprocess.run([codex, "app-server", "daemon", "stop"], env=env("second"), capture_output=True, timeout=60)
third = interface("second")
print("X_KEY=first                    ->", first)
print("X_KEY=second                   ->", second)
print("X_KEY=second, daemon stopped   ->", third)
sys.exit(0 if (first, second, third) == (["Bearer first"], ["Bearer first"], ["Bearer second"]) else 1)
PY
python3 run.py
