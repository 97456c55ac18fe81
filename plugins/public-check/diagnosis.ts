import { listen } from '#core/config/sections/core-sections.ts';
import type { Diagnosis, DiagnosisHost, DiagnosticCheck, PublicAddress } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok } from '#core/gateway/diagnosis/finding.ts';
import { queryOperator } from '#core/gateway/operator-listener/query-operator.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { PublicCaller } from './caller.ts';
import { checkClientAddress } from './checks/address.ts';
import { checkDeparture } from './checks/departure.ts';
import { checkEncodedSlash, checkLongBody, checkLongHeader } from './checks/request.ts';
import { checkStream } from './checks/stream.ts';
import { checkIdleStream, checkSlowCall } from './checks/timeouts.ts';
import { checkWebSocket } from './checks/web-socket.ts';
import { passPath } from './paths.ts';

const longBodyBytes = 10_000_000;
const timeoutsSeconds = { usual: 30, body: 120, departure: 60, beyondWait: 30 }; // `body` allows for a slow line (1 Mbit/s)

type Check = (caller: PublicCaller, signal: AbortSignal) => Promise<Finding>;

/** Tests the public address as a client would, for `daypass doctor --url`. */
export const publicUrlDiagnosis: Diagnosis = {
  name: 'public_url',
  checks: ({ publicAddress, ...host }) =>
    publicAddress === undefined
      ? []
      : [...createChecks(host, publicAddress)].map((check) => ({ ...check, isAsked: true as const })),
};

function* createChecks(host: DiagnosisHost, { url, seconds }: PublicAddress): Iterable<DiagnosticCheck> {
  const getCaller = memoize(() => openCaller(host, url));
  const { promise: streamEnd, resolve: endStream } = Promise.withResolvers<void>();
  const define = (subject: string, timeout: number, check: Check): DiagnosticCheck => ({
    subject,
    timeout,
    run: async (signal) => check(await getCaller(), signal),
  });
  const isSecure = new URL(url).protocol === 'https:';
  const bytes = Math.min(longBodyBytes, host.section(listen).max_body_bytes);
  yield { subject: 'encryption', run: async () => describeEncryption(url) };
  // Checks that could delay the stream's events start after the stream has ended.
  yield define('stream', timeoutsSeconds.usual, (caller, signal) => checkStream(caller, signal).finally(endStream));
  const afterStream =
    (check: Check): Check =>
    async (caller, signal) => {
      await streamEnd;
      return check(caller, signal);
    };
  const waitTimeout = seconds + timeoutsSeconds.beyondWait;
  yield define('silence in a stream', waitTimeout, (caller, signal) => checkIdleStream(caller, seconds, signal));
  yield define('slow call', waitTimeout, (caller, signal) => checkSlowCall(caller, seconds, signal));
  yield define(
    'client leaves a stream',
    timeoutsSeconds.departure,
    afterStream((caller, signal) => checkDeparture(caller, true, signal)),
  );
  yield define(
    'client leaves a call',
    timeoutsSeconds.departure,
    afterStream((caller, signal) => checkDeparture(caller, false, signal)),
  );
  yield define('encoded slash', timeoutsSeconds.usual, afterStream(checkEncodedSlash));
  yield define('long header', timeoutsSeconds.usual, afterStream(checkLongHeader));
  yield define('WebSocket', timeoutsSeconds.usual, afterStream(checkWebSocket));
  yield define(
    'client address',
    timeoutsSeconds.usual,
    afterStream((caller, signal) => checkClientAddress(caller, isSecure, signal)),
  );
  yield define(
    'long body',
    timeoutsSeconds.body,
    afterStream((caller, signal) => checkLongBody(caller, bytes, signal)),
  );
}

/** @throws OperatorUnavailable */
async function openCaller(host: DiagnosisHost, url: string): Promise<PublicCaller> {
  const { pass } = await queryOperator(host, { path: passPath });
  if (typeof pass !== 'string')
    throw new Error('The running gateway is a different version and does not issue passes.');
  return new PublicCaller(url, pass);
}

function describeEncryption(url: string): Finding {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || isLoopback(hostname)) return ok(`${protocol}//`);
  return failed('http://: keys travel unencrypted', 'Put a TLS proxy in front of the gateway (docs/proxies.md).');
}

function memoize<T>(create: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= create());
}
