import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { failed, type Finding, ok, warning } from './finding.ts';

const certificateWarningDays = 14;
const dayMs = 86_400_000;

const failures: readonly (readonly [pattern: RegExp, text: string, advice: string])[] = [
  [
    /ENOTFOUND|EAI_AGAIN/,
    'host name not found',
    'Correct the name, or the name servers of this machine (/etc/resolv.conf).',
  ],
  [/ECONNREFUSED/, 'connection refused', 'Start the server there, or correct host and port.'],
  [/EHOSTUNREACH|ENETUNREACH/, 'no route to host', 'Check the network of this machine, and its firewall.'],
  [
    /ETIMEDOUT|ABORT|TimeoutError|CONNECT_TIMEOUT/i,
    'no response in time',
    'A firewall in between may be dropping packets. Allow the connection, or correct host and port.',
  ],
  [/CERT_HAS_EXPIRED/, 'its certificate has expired', 'Renew it there; also check the clock of this machine.'],
  [
    /CERT_NOT_YET_VALID/,
    'its certificate is not valid yet',
    'The clock of this machine is probably wrong: synchronize it (NTP).',
  ],
  [
    /ALTNAME_INVALID/,
    'its certificate is for another name',
    "Use the certificate's name in the URL, or get a certificate for this one.",
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|UNKNOWN_CA/,
    'its certificate is not trusted here',
    'Install its CA certificates and set NODE_EXTRA_CA_CERTS, or use a certificate from a public CA.',
  ],
  [
    /WRONG_VERSION_NUMBER|EPROTO|ERR_SSL/,
    'it does not speak TLS',
    'Use http:// in the URL, or the port on which the server uses TLS.',
  ],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET/, 'the connection was closed', 'A proxy or firewall may cut it; try again.'],
];

/** Explains a failed connection, with a remedy. Never repeats a driver's message, which may contain addresses and secrets. */
export function explainNetworkError(thrown: unknown): Finding {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    const description = `${error.name} ${'code' in error ? String(error.code) : ''} ${error.message}`;
    const failure = failures.find(([pattern]) => pattern.test(description));
    if (failure === undefined) continue;
    const [, text, advice] = failure;
    return failed(text, advice);
  }
  const advice = 'Try the same with curl on this machine, which prints more details.';
  return failed(describeConnectionError(thrown).replace('; see the log', ''), advice);
}

/** Checks that a server's name can be resolved, that it accepts a connection, and that its certificate is valid. Never rejects. */
export async function checkOrigin(url: string | URL, signal: AbortSignal): Promise<Finding> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    if (isIP(host) === 0) await lookup(host);
    signal.throwIfAborted();
    if (protocol !== 'https:') {
      using _socket = toDisposable(await waitUntilOpen(connectPlain(Number(port) || 80, host), 'connect', signal));
      return ok('reachable');
    }
    const servername = isIP(host) === 0 ? host : '';
    const socket = connectTls({ host, port: Number(port) || 443, servername });
    using _socket = toDisposable(await waitUntilOpen(socket, 'secureConnect', signal));
    return describeCertificate(socket);
  } catch (error) {
    return explainNetworkError(error);
  }
}

function describeCertificate(socket: TLSSocket): Finding {
  const expiresAt = Date.parse(socket.getPeerCertificate().valid_to);
  const days = Math.floor((expiresAt - Date.now()) / dayMs);
  if (!(days < certificateWarningDays)) return ok(`reachable, ${socket.getProtocol() ?? 'TLS'}`);
  return warning(
    `its certificate expires in ${days} days`,
    'Ask its owner to renew it. Otherwise every connection will fail.',
  );
}

async function waitUntilOpen<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  // A later error, such as a reset while the socket closes, must not end the process.
  socket.on('error', () => undefined);
  try {
    await once(socket, event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function toDisposable(socket: Socket): Disposable {
  return { [Symbol.dispose]: () => socket.destroy() };
}
