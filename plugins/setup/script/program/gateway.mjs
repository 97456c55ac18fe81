// Sends requests to the gateway, with curl or this runtime, and explains failures.

import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import * as tls from 'node:tls';
import { encode, machine } from './machine.mjs';
import { computer, isWindows, printable, run } from './run.mjs';

export const placeholderKey = 'YOUR_KEY'; // for a dry run without a key

const maxResponseBytes = 4 * 1024 * 1024; // the gateway's responses are a hundredth of this

/**
 * Sends a request with the key, but never passes the key as an argument of a process, which every user of the machine can read. Does not
 * follow redirects, because the key is only for the gateway.
 *
 * @returns status (0 without a response), body, partial (the start of a body that broke off), seconds, and failure: a sentence, or '' if
 *   the gateway itself has responded
 */
export function request(method, path, json = '', limit = 30) {
  const outgoing = { method, url: run.data.baseUrl + path, json, limit, key: run.key, agent: `${run.slug}-setup` };
  const startedAt = Date.now();
  const curl = machine.which('curl');
  let response = curl && !curl.includes('/snap/') ? requestByCurl(curl, outgoing) : undefined;
  response = response ?? requestByRuntime(outgoing);
  const failure = response.status === 0 ? describeFailure(response, outgoing) : describeForeignResponse(response);
  return { ...response, failure, seconds: ((Date.now() - startedAt) / 1000).toFixed(1) };
}

const upgradeTimeout = 5; // seconds; Codex waits three times as long in each attempt

/** Tests a WebSocket upgrade (101) from this machine, through all proxies in between. curl would wait for frames until its timeout. */
export function acceptsWebSockets() {
  if (!run.key || run.key === placeholderKey) return false;
  const url = `${run.data.baseUrl}/v1/responses`;
  const outgoing = {
    method: 'GET',
    url,
    isUpgrade: true,
    limit: upgradeTimeout,
    key: run.key,
    agent: `${run.slug}-setup`,
  };
  run.acceptsWebSockets ??= requestByRuntime(outgoing).status === 101;
  return run.acceptsWebSockets;
}

const curlReasons = [
  // Exit codes of curl(1).
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

const quoteForCurl = (text) => `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;

function requestByCurl(curl, { method, url, json, limit, key, agent }) {
  const config = [
    `url = ${quoteForCurl(url)}`,
    `header = ${quoteForCurl(`Authorization: Bearer ${key}`)}`,
    `user-agent = ${quoteForCurl(agent)}`,
  ];
  if (json) config.push('header = "Content-Type: application/json"', `data-raw = ${quoteForCurl(json)}`);
  const limits = `--connect-timeout 10 --max-time ${limit} --max-filesize ${maxResponseBytes}`;
  // -q ignores ~/.curlrc, whose options could print or redirect the key.
  const options = `-q --config - --silent --show-error --globoff --proto =http,https --request ${method} ${limits}`;
  const words = [...options.split(' '), '--write-out', '\n%{http_code} %{http_connect} %{redirect_url}'];
  const result = machine.spawn(curl, words, {
    input: encode(`${config.join('\n')}\n`),
    seconds: limit + 5,
    limit: maxResponseBytes + 4096,
  });
  if (result.code === -3) return { status: 0, body: '', reason: 'length' };
  if ([-1, 126, 127].includes(result.code)) return undefined; // curl cannot be started
  const end = result.output.lastIndexOf('\n');
  const [status, connect = '000', location = ''] = result.output.slice(end + 1).split(' ');
  if (result.code === 0) return { status: Number(status), body: result.output.slice(0, end), location };
  const detail = printable((/^curl: \(\d+\) (.*)/.exec(result.errors)?.[1] ?? '').slice(0, 200));
  if (!/^(000|2\d\d)$/.test(connect)) return { status: 0, body: '', reason: 'proxy', detail: connect };
  const [reason] =
    result.code === -2 ? ['timeout'] : (curlReasons.find(([, ...codes]) => codes.includes(result.code)) ?? []);
  return { status: 0, body: '', partial: result.output.slice(0, end), reason, detail };
}

function requestByRuntime(outgoing) {
  // In a child process, because this program is synchronous.
  const result = machine.spawnItself('--request', {
    input: encode(JSON.stringify(outgoing)),
    seconds: outgoing.limit + 5,
  });
  if (result.code !== 0) return { status: 0, body: '', reason: result.code === -2 ? 'timeout' : '' };
  return JSON.parse(result.output);
}

const codeReasons = {
  ENOTFOUND: 'host',
  EAI_AGAIN: 'host',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'broken',
  EPIPE: 'broken',
  ETIMEDOUT: 'timeout',
};

function printResponse(response) {
  machine.print(JSON.stringify({ status: 0, body: '', ...response }));
  machine.exit(0);
}

function printFailure(error) {
  const code = String(error.code ?? error.errors?.[0]?.code ?? '');
  const reason = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code) ? 'tls' : codeReasons[code];
  const detail = printable(String(error.message || code)).slice(0, 200);
  printResponse({
    reason: error.reason ?? reason ?? (/aborted|hang up/.test(detail) ? 'broken' : ''),
    detail: error.detail ?? detail,
  });
}

/** Runs in the child process of `requestByRuntime`: sends the request and prints the response as JSON. */
export function sendByRuntime(outgoing) {
  setTimeout(() => printResponse({ reason: 'timeout' }), outgoing.limit * 1000);
  send(outgoing, (response) => {
    const chunks = [];
    let length = 0;
    response.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxResponseBytes) printResponse({ reason: 'length' });
    });
    const readBody = () => Buffer.concat(chunks).toString('latin1');
    response.on('error', printFailure).on('aborted', () => printResponse({ reason: 'broken', partial: readBody() }));
    response.on('end', () =>
      printResponse({ status: response.statusCode, body: readBody(), location: response.headers.location ?? '' }),
    );
  });
}

function send({ method, url, json, key, agent, isUpgrade }, receive) {
  const target = new URL(url);
  const headers = {
    authorization: `Bearer ${key}`,
    'user-agent': agent,
    ...(json && { 'content-type': 'application/json' }),
    ...(isUpgrade && upgradeHeaders()),
  };
  const proxy = findProxy(url);
  const start = (outgoing) =>
    outgoing.on('error', printFailure).on('response', receive).on('upgrade', printUpgrade).end(json);
  if (proxy === undefined)
    return start((target.protocol === 'https:' ? https : http).request(target, { method, headers }));
  const { hostname, port, username, password } = new URL(proxy.url);
  const signIn = username && {
    'proxy-authorization': `Basic ${btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)}`,
  };
  const proxyAddress = { host: hostname, port: port || 80 };
  if (target.protocol === 'http:')
    return start(
      http.request({ ...proxyAddress, method, path: url, headers: { ...headers, host: target.host, ...signIn } }),
    );
  const host = `${target.hostname}:${target.port || 443}`;
  const tunnel = http.request({ ...proxyAddress, method: 'CONNECT', path: host, headers: { host, ...signIn } });
  tunnel.on('error', printFailure).on('connect', ({ statusCode }, socket) => {
    if (statusCode !== 200) return printFailure({ reason: 'proxy', detail: String(statusCode) });
    const options = { method, headers, createConnection: () => tls.connect({ socket, servername: target.hostname }) };
    start(https.request(target, options));
  });
  tunnel.end();
}

function upgradeHeaders() {
  const key = randomBytes(16).toString('base64');
  return { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key };
}

function printUpgrade({ statusCode }, socket) {
  socket.on('error', () => {}).destroy();
  printResponse({ status: statusCode });
}

function findProxy(url) {
  // Follows curl's rules.
  const { protocol, hostname } = new URL(url);
  const kind = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const names = [kind, ...(kind === 'https_proxy' ? ['HTTPS_PROXY'] : []), 'all_proxy', 'ALL_PROXY'];
  const variable = names.find((name) => machine.env(name));
  const excludedHosts = (machine.env('no_proxy') ?? machine.env('NO_PROXY') ?? '').split(/[ ,]+/).filter(Boolean);
  const isExcluded = excludedHosts.some(
    (host) => host === '*' || `.${hostname}`.endsWith(`.${host.replace(/^\./, '')}`),
  );
  if (variable === undefined || isExcluded) return undefined;
  const value = machine.env(variable);
  return { url: /^[a-z0-9]+:\/\//.test(value) ? value : `http://${value}`, variable };
}

function readOrigin() {
  // The path would make messages hard to read.
  return /^[a-z]+:\/\/[^/]*/.exec(run.data.baseUrl)[0];
}

function describeFailure({ reason, detail = '' }, { url, limit }) {
  const at = readOrigin();
  const more = detail ? ` (${detail})` : '';
  const proxy = findProxy(url);
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

function certificateVariable() {
  return machine.which('curl') ? 'CURL_CA_BUNDLE' : 'NODE_EXTRA_CA_CERTS';
}

function describeForeignResponse({ status, body, location = '' }) {
  const at = readOrigin();
  // The gateway's own responses are JSON with any status, or events.
  const content = body.replace(/^\xef\xbb\xbf/, '').replace(/^[\0- ]+/, '');
  if (status === 407) return describeFailure({ reason: 'proxy', detail: '407' }, { url: run.data.baseUrl });
  const instead = `Something between this ${computer} and ${at} answered instead of it`;
  if (status >= 300 && status < 400) {
    const target = location ? ` to ${printable(location)}` : '';
    return `${instead} (${status}${target}). Open a page in a browser: the network may want a sign-in.`;
  }
  if (content.startsWith('{') || (status < 300 && /^(data|event|id)?:/.test(content))) return '';
  if (status >= 500)
    return `${at} answered with ${status} and no explanation: the gateway is down or restarting. Try again in a minute.`;
  return `${instead} (${status}, ${describeContent(content)}). A proxy, a firewall or the network's sign-in page may block it.`;
}

function describeContent(content) {
  if (content === '') return 'an empty answer';
  return content.startsWith('<') ? 'a web page' : 'no JSON';
}

export function readJson(bytes) {
  try {
    const value = JSON.parse(decodeURIComponent(escape(bytes.replace(/^\xef\xbb\xbf/, ''))));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function errorMessage({ body }) {
  const message = readJson(body)?.error?.message;
  return typeof message === 'string' ? printable(message).slice(0, 400) : '';
}
