# Clients for machines that have neither curl nor GNU wget. Arguments: METHOD URL OUT BODY_FILE SECONDS AGENT BYTES, the key on the standard
# input. They print STATUS TAB REASON TAB DETAIL.

# Python >= 3.6. urllib honours the proxy's variables.
print_python_client() {
  cat <<'PROGRAM'
import signal, socket, ssl, sys, urllib.error, urllib.request
from http.client import HTTPException

method, url, out, body, seconds, agent, largest = sys.argv[1:8]
key = sys.stdin.readline().strip()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *ignored):
        return None


def tell(status, reason, detail):
    text = "".join(c if c.isprintable() else " " for c in str(detail))
    print(("%s\t%s\t%s" % (status, reason, text[:200])).encode("ascii", "replace").decode())
    sys.exit(0)


def time_out(*ignored):
    raise socket.timeout("timed out")


def explain(error):
    cause = getattr(error, "reason", error)
    if isinstance(cause, socket.timeout):
        return "timeout"
    if isinstance(cause, ssl.SSLError):
        return "tls"
    if isinstance(cause, socket.gaierror):
        return "host"
    if isinstance(cause, ConnectionRefusedError):
        return "refused"
    if "Tunnel connection failed" in str(cause):
        return "proxy"
    if isinstance(cause, (ConnectionError, HTTPException)):
        return "broken"
    return "-"


signal.signal(signal.SIGALRM, time_out)
signal.alarm(int(seconds))
headers = {"Authorization": "Bearer " + key, "User-Agent": agent}
data = None
if body:
    headers["Content-Type"] = "application/json"
    with open(body, "rb") as file:
        data = file.read()
try:
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        answer = urllib.request.build_opener(NoRedirect).open(request)
    except urllib.error.HTTPError as error:
        answer = error
    content = answer.read(int(largest))
    # An answer that broke off is short without an error; the next read has it.
    if len(content) < int(largest):
        answer.read()
except (OSError, HTTPException) as error:
    tell("000", explain(error), getattr(error, "reason", error))
if len(content) == int(largest):
    tell("000", "length", "")
try:
    with open(out, "wb") as file:
        file.write(content)
except OSError as error:
    tell("000", "disk", error)
tell(answer.code, "-", answer.headers.get("location") or "")
PROGRAM
}

# Node >= 14.
print_node_client() {
  cat <<'PROGRAM'
const fs = require('fs');
const [method, url, out, body, seconds, agent, largest] = process.argv.slice(2);
const key = fs.readFileSync(0, 'utf8').trim();
const reasons = {
  ENOTFOUND: 'host',
  EAI_AGAIN: 'host',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'broken',
  EPIPE: 'broken',
  ETIMEDOUT: 'timeout',
};

function tell(status, reason, detail) {
  const text = String(detail).replace(/[^ -~]/g, ' ');
  fs.writeSync(1, `${status}\t${reason}\t${text.slice(0, 200)}\n`);
  process.exit(0);
}

function explain(error) {
  const code = String(error.code || (error.errors && error.errors[0] && error.errors[0].code));
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return 'tls';
  if (/tunnel/.test(error.message)) return 'proxy';
  return reasons[code] || (/aborted|hang up/.test(error.message) ? 'broken' : '-');
}

function fail(error) {
  tell('000', explain(error), error.message || error.code);
}

setTimeout(() => tell('000', 'timeout', ''), Number(seconds) * 1000);
const headers = { Authorization: `Bearer ${key}`, 'User-Agent': agent };
if (body) headers['Content-Type'] = 'application/json';
const library = require(url.startsWith('https:') ? 'https' : 'http');
const request = library.request(url, { method, headers }, (answer) => {
  const chunks = [];
  let length = 0;
  answer.on('data', (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= Number(largest)) tell('000', 'length', '');
  });
  answer.on('error', fail);
  answer.on('aborted', () => tell('000', 'broken', ''));
  answer.on('end', () => {
    try {
      fs.writeFileSync(out, Buffer.concat(chunks));
    } catch (error) {
      tell('000', 'disk', error.message);
    }
    tell(answer.statusCode, '-', answer.headers.location || '');
  });
});
request.on('error', fail);
request.end(body ? fs.readFileSync(body) : undefined);
PROGRAM
}
