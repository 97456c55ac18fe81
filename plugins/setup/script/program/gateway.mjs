// Requests to the gateway by curl or by this runtime, and what an answer or its absence means.
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import * as tls from 'node:tls';
import { encode, machine } from './machine.mjs';
import { computer, isWindows, printable, run } from './run.mjs';

/** Placeholder for the key in a dry run without one. */
export const placeholderKey = 'YOUR_KEY';

/** Bytes. The gateway's responses here are a hundred times smaller. */
const largestAnswer = 4 * 1024 * 1024;

/**
 * Sends a request with the key. The key is in no argument of a process, which every user of the machine can list. Redirects
 * are not followed: the key is for the gateway alone.
 *
 * @returns status (0: no answer), body, partial (what came of a body that broke off), seconds, and failure: a sentence, or '' when the
 *   gateway itself has answered
 */
export function request(method, path, json = '', limit = 30) {
  const asked = { method, url: run.data.baseUrl + path, json, limit, key: run.key, agent: `${run.slug}-setup` };
  const began = Date.now();
  const curl = machine.find('curl');
  let answer = curl && !curl.includes('/snap/') ? askByCurl(curl, asked) : undefined;
  answer = answer ?? askByRuntime(asked);
  const failure = answer.status === 0 ? explainSilence(answer, asked) : explainAnswer(answer);
  return { ...answer, failure, seconds: ((Date.now() - began) / 1000).toFixed(1) };
}

/** Seconds. Codex waits three times as long, at every try. */
const upgradeLimit = 5;

/**
 * True when the gateway's public address opens a WebSocket: 101, from this machine and through the proxies on the way. Without a
 * key, nothing is known. curl would wait for frames until its limit.
 */
export function takesSockets() {
  if (!run.key || run.key === placeholderKey) return false;
  const url = `${run.data.baseUrl}/v1/responses`;
  const asked = { method: 'GET', url, isUpgrade: true, limit: upgradeLimit, key: run.key, agent: `${run.slug}-setup` };
  run.hasSockets ??= askByRuntime(asked).status === 101;
  return run.hasSockets;
}

/** Exit codes of curl(1). */
const curlReasons = [
  ['proxy-host', 5],
  ['host', 6],
  ['refused', 7],
  ['timeout', 28],
  ['handshake', 35],
  ['length', 63],
  ['proxy', 97],
  ['broken', 18, 52, 55, 56, 92],
  ['tls', 51, 53, 54, 58, 59, 60, 77, 83, 90, 91],
];

/** A text as a value in a file of options of curl. */
const quote = (text) => `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;

/** ~/.curlrc is ignored, because its options could print or redirect the key. Undefined where curl cannot start. */
function askByCurl(curl, { method, url, json, limit, key, agent }) {
  const config = [
    `url = ${quote(url)}`,
    `header = ${quote(`Authorization: Bearer ${key}`)}`,
    `user-agent = ${quote(agent)}`,
  ];
  if (json) config.push('header = "Content-Type: application/json"', `data-raw = ${quote(json)}`);
  const bounds = `--connect-timeout 10 --max-time ${limit} --max-filesize ${largestAnswer}`;
  const options = `-q --config - --silent --show-error --globoff --proto =http,https --request ${method} ${bounds}`;
  const words = [...options.split(' '), '--write-out', '\n%{http_code} %{http_connect} %{redirect_url}'];
  const told = machine.call(curl, words, {
    input: encode(`${config.join('\n')}\n`),
    seconds: limit + 5,
    limit: largestAnswer + 4096,
  });
  if (told.code === -3) return { status: 0, body: '', reason: 'length' };
  if ([-1, 126, 127].includes(told.code)) return undefined;
  const end = told.output.lastIndexOf('\n');
  const [status, connect = '000', location = ''] = told.output.slice(end + 1).split(' ');
  if (told.code === 0) return { status: Number(status), body: told.output.slice(0, end), location };
  const detail = printable((/^curl: \(\d+\) (.*)/.exec(told.errors)?.[1] ?? '').slice(0, 200));
  if (!/^(000|2\d\d)$/.test(connect)) return { status: 0, body: '', reason: 'proxy', detail: connect };
  const [reason] =
    told.code === -2 ? ['timeout'] : (curlReasons.find(([, ...codes]) => codes.includes(told.code)) ?? []);
  return { status: 0, body: '', partial: told.output.slice(0, end), reason, detail };
}

/** Asks in a child process, because this program runs synchronously. */
function askByRuntime(asked) {
  const told = machine.callItself('--request', { input: encode(JSON.stringify(asked)), seconds: asked.limit + 5 });
  if (told.code !== 0) return { status: 0, body: '', reason: told.code === -2 ? 'timeout' : '' };
  return JSON.parse(told.output);
}

const codeReasons = {
  ENOTFOUND: 'host',
  EAI_AGAIN: 'host',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'broken',
  EPIPE: 'broken',
  ETIMEDOUT: 'timeout',
};

function tell(answer) {
  machine.print(JSON.stringify({ status: 0, body: '', ...answer }));
  machine.exit(0);
}

function fail(error) {
  const code = String(error.code ?? error.errors?.[0]?.code ?? '');
  const reason = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code) ? 'tls' : codeReasons[code];
  const detail = printable(String(error.message || code)).slice(0, 200);
  tell({
    reason: error.reason ?? reason ?? (/aborted|hang up/.test(detail) ? 'broken' : ''),
    detail: error.detail ?? detail,
  });
}

/** The process of askByRuntime: reads the request from its standard input, prints the answer as JSON. */
export function answerByRuntime(asked) {
  setTimeout(() => tell({ reason: 'timeout' }), asked.limit * 1000);
  send(asked, (response) => {
    const chunks = [];
    let length = 0;
    response.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= largestAnswer) tell({ reason: 'length' });
    });
    const received = () => Buffer.concat(chunks).toString('latin1');
    response.on('error', fail).on('aborted', () => tell({ reason: 'broken', partial: received() }));
    response.on('end', () =>
      tell({ status: response.statusCode, body: received(), location: response.headers.location ?? '' }),
    );
  });
}

/** Sends it, through the proxy that the variables name. */
function send({ method, url, json, key, agent, isUpgrade }, receive) {
  const target = new URL(url);
  const headers = {
    authorization: `Bearer ${key}`,
    'user-agent': agent,
    ...(json && { 'content-type': 'application/json' }),
    ...(isUpgrade && upgradeHeaders()),
  };
  const proxy = proxyOf(url);
  const begin = (sent) => sent.on('error', fail).on('response', receive).on('upgrade', accept).end(json);
  if (proxy === undefined)
    return begin((target.protocol === 'https:' ? https : http).request(target, { method, headers }));
  const { hostname, port, username, password } = new URL(proxy.url);
  const signIn = username && {
    'proxy-authorization': `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}`,
  };
  const through = { host: hostname, port: port || 80 };
  if (target.protocol === 'http:')
    return begin(
      http.request({ ...through, method, path: url, headers: { ...headers, host: target.host, ...signIn } }),
    );
  const host = `${target.hostname}:${target.port || 443}`;
  const tunnel = http.request({ ...through, method: 'CONNECT', path: host, headers: { host, ...signIn } });
  tunnel.on('error', fail).on('connect', ({ statusCode }, socket) => {
    if (statusCode !== 200) return fail({ reason: 'proxy', detail: String(statusCode) });
    const options = { method, headers, createConnection: () => tls.connect({ socket, servername: target.hostname }) };
    begin(https.request(target, options));
  });
  tunnel.end();
}

function upgradeHeaders() {
  const key = randomBytes(16).toString('base64');
  return { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key };
}

/** Success: the WebSocket is open. */
function accept({ statusCode }, socket) {
  socket.on('error', () => {}).destroy();
  tell({ status: statusCode });
}

/** The proxy for a URL and the variable that names it, by the rules of curl; undefined without one. */
function proxyOf(url) {
  const { protocol, hostname } = new URL(url);
  const kind = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const names = [kind, ...(kind === 'https_proxy' ? ['HTTPS_PROXY'] : []), 'all_proxy', 'ALL_PROXY'];
  const variable = names.find((name) => machine.env(name));
  const except = (machine.env('no_proxy') ?? machine.env('NO_PROXY') ?? '').split(/[ ,]+/).filter(Boolean);
  const isExcepted = except.some((one) => one === '*' || `.${hostname}`.endsWith(`.${one.replace(/^\./, '')}`));
  if (variable === undefined || isExcepted) return undefined;
  const value = machine.env(variable);
  return { url: /^[a-z0-9]+:\/\//.test(value) ? value : `http://${value}`, variable };
}

/** The origin alone: a path makes the sentences hard to read. */
function origin() {
  return /^[a-z]+:\/\/[^/]*/.exec(run.data.baseUrl)[0];
}

/** A sentence for no answer. */
function explainSilence({ reason, detail = '' }, { url, limit }) {
  const at = origin();
  const more = detail ? ` (${detail})` : '';
  const proxy = proxyOf(url);
  const proxyHost = proxy && `${proxy.url.replace(/\/\/[^@/]*@/, '//')} that ${proxy.variable} names`;
  const check = isWindows ? 'Check the proxy in the variables.' : 'Check the variables https_proxy and http_proxy.';
  switch (reason) {
    case 'host':
      if (proxy) break;
      return `The host name of ${at} could not be resolved. Check the network connection and the address.`;
    case 'refused':
      if (proxy)
        return `Nothing accepts connections at the proxy ${proxyHost}. Start it, or remove the variable and run this again.`;
      return `Nothing accepts connections at ${at}. The gateway may be down, or a firewall blocks it.`;
    case 'tls':
      return `The TLS certificate of ${at} is not trusted${more}. If a company proxy inspects the traffic of this ${computer}, set ${certificateVariable()} to the file of its certificate.`;
    case 'handshake':
      return `The TLS handshake with ${at} failed${more}. A proxy or firewall may block it, or nothing speaks TLS at this address.`;
    case 'timeout':
      if (proxy)
        return `${at} did not answer within ${limit} s through the proxy ${proxyHost}. Check whether the proxy works, or remove the variable.`;
      return `${at} did not answer within ${limit} s. Try again, or check whether a proxy or firewall blocks it.`;
    case 'proxy-host':
      return `The host name of the network's proxy could not be resolved. ${check}`;
    case 'proxy':
      return `The proxy of this network refused to connect to ${at}${more}. Check https_proxy and its password, or ask the administrator of the network.`;
    case 'broken':
      if (proxy)
        return `The connection to ${at} through the proxy ${proxyHost} broke before the answer was complete. Check whether the proxy works.`;
      return `The connection to ${at} broke before the answer was complete. Try again.`;
    case 'length':
      return `${at} sent more than 4 MiB, which no answer of ${printable(run.data.service)} has. Something between this ${computer} and ${at} may have answered instead of it.`;
  }
  if (reason === 'host')
    return `The host name of ${at}, or that of the proxy ${proxyHost}, could not be resolved. ${check}`;
  return `${at} could not be reached${more}. Check the network connection, and whether a proxy or firewall blocks it.`;
}

/** The variable that names more certificates: of curl, or of this runtime. */
function certificateVariable() {
  return machine.find('curl') ? 'CURL_CA_BUNDLE' : 'NODE_EXTRA_CA_CERTS';
}

/** '' when the gateway has answered: JSON at any status, or events. */
function explainAnswer({ status, body, location = '' }) {
  const at = origin();
  const start = body.replace(/^\xef\xbb\xbf/, '').replace(/^[\0- ]+/, '');
  if (status === 407) return explainSilence({ reason: 'proxy', detail: '407' }, { url: run.data.baseUrl });
  const instead = `Something between this ${computer} and ${at} answered instead of it`;
  if (status >= 300 && status < 400) {
    const target = location ? ` to ${printable(location)}` : '';
    return `${instead} (${status}${target}). Open a page in a browser: the network may want a sign-in.`;
  }
  if (start.startsWith('{') || (status < 300 && /^(data|event|id)?:/.test(start))) return '';
  if (status >= 500)
    return `${at} answered with ${status} and no explanation: the gateway is down or restarting. Try again in a minute.`;
  const what = start === '' ? 'an empty answer' : start.startsWith('<') ? 'a web page' : 'no JSON';
  return `${instead} (${status}, ${what}). A proxy, a firewall or the network's sign-in page may block it.`;
}

/** The object in a JSON text; undefined for anything else. */
export function readJson(bytes) {
  try {
    const value = JSON.parse(decodeURIComponent(escape(bytes.replace(/^\xef\xbb\xbf/, ''))));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The message of the gateway's error; '' without one. */
export function errorMessage({ body }) {
  const message = readJson(body)?.error?.message;
  return typeof message === 'string' ? printable(message).slice(0, 400) : '';
}
