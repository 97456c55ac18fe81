import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { TelemetrySettings, TelemetrySignal } from '#core/config/sections/telemetry-section.ts';
import { describeConnectionError, isConnectionError } from '#core/platform/errors/connection-error.ts';
import { parseJson } from '#core/platform/json.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { oneLine } from '#core/platform/one-line.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { decodePercent } from '#core/platform/percent-encoding.ts';
import { version } from '#core/platform/version.ts';
import { exports, type Resource } from './otlp.ts';
import { exportRequest } from './otlp-fields.ts';
import { readProtobuf, toProtobuf } from './protobuf.ts';

/** Result of a request to the collector. */
export type Sent =
  /** @property rejected number of items that the collector rejected; `reason` says why */
  | { readonly kind: 'taken'; readonly rejected: number; readonly reason: string }
  /** The collector may accept the items later. @property retryAfterMs the requested wait */
  | { readonly kind: 'later'; readonly reason: string; readonly after: number }
  /** The collector will never accept the items. */
  | { readonly kind: 'refused'; readonly reason: string };

const compress = promisify(gzip);
/** Source: OTLP/HTTP, "Retryable Response Codes". */
const retryable = new Set([429, 502, 503, 504]);
/** Maximum wait before a retry, even if the collector asks for a longer one. */
const maxRetryAfterMs = 60_000;
/** Maximum bytes of a response that are read to find an error message. */
const answerLength = 4_096;
/** Maximum characters of a reason. */
const reasonLength = 300;

const forms = {
  'http/protobuf': { type: 'application/x-protobuf', write: (request: object) => toProtobuf(exportRequest, request) },
  'http/json': { type: 'application/json', write: (request: object) => JSON.stringify(request) },
} as const;

/** A collector that accepts OTLP over HTTP. */
export class Collector {
  readonly #settings: Pick<TelemetrySettings, 'endpoint' | 'protocol' | 'headers' | 'timeout'>;
  readonly #resource: Resource;
  readonly #scope = { name: 'daypass', version };

  constructor(settings: Pick<TelemetrySettings, 'endpoint' | 'protocol' | 'headers' | 'timeout'>, resource: Resource) {
    this.#settings = settings;
    this.#resource = resource;
  }

  /** Sends items of a signal. Never rejects. */
  async send(signal: TelemetrySignal, items: readonly object[]): Promise<Sent> {
    const { path, request } = exports[signal];
    const { endpoint, protocol, headers, timeout } = this.#settings;
    const form = forms[protocol];
    const body = form.write(request(this.#resource, this.#scope, items as never));
    try {
      const response = await outgoingFetch(`${endpoint.replace(/\/+$/, '')}/${path}`, {
        method: 'POST',
        headers: {
          ...Object.fromEntries(pairsOf(headers)),
          'content-type': form.type,
          'content-encoding': 'gzip',
        },
        body: await compress(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeout * 1000),
      });
      return readAnswer(response, await readBeginning(response));
    } catch (error) {
      const reason = isConnectionError(error) ? describeConnectionError(error) : String((error as Error).message);
      return { kind: 'later', reason, after: 0 };
    }
  }
}

/** Reads the start of a response, which may be very long or endless. */
async function readBeginning({ body }: Response): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const piece of body ?? []) {
    collected.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (collected.size >= answerLength) break;
  }
  return collected.joinedBytes().subarray(0, answerLength);
}

function readAnswer({ ok, status, headers }: Response, bytes: Buffer): Sent {
  const isProtobuf = headers.get('content-type')?.includes('protobuf') === true;
  if (ok) return { kind: 'taken', ...(isProtobuf ? partialSuccessIn(bytes) : partialSuccessOf(bytes.toString())) };
  const message = reasonOf(isProtobuf ? messageIn(bytes) : messageOf(bytes.toString()));
  const reason = message === '' ? `status ${status}` : `status ${status}: ${message}`;
  if (!retryable.has(status)) return { kind: 'refused', reason };
  const seconds = Number(headers.get('retry-after') ?? 0);
  return { kind: 'later', reason, after: Number.isFinite(seconds) ? Math.min(seconds * 1000, maxRetryAfterMs) : 0 };
}

interface PartialSuccess {
  readonly rejected: number;
  readonly reason: string;
}

/** Parses the count in `rejectedSpans`, `rejectedDataPoints` or `rejectedLogRecords`, and `errorMessage`. */
function partialSuccessOf(text: string): PartialSuccess {
  // An empty or malformed response is accepted, because the status suffices.
  const answer = (parseJson(text) ?? {}) as { partialSuccess?: Readonly<Record<string, unknown>> | null };
  const partialSuccess = answer.partialSuccess ?? {};
  const [, rejected = 0] = Object.entries(partialSuccess).find(([name]) => name.startsWith('rejected')) ?? [];
  return { rejected: Number(rejected) || 0, reason: reasonOf(String(partialSuccess['errorMessage'] ?? '')) };
}

/** Decodes a partial success from Protocol Buffers, where all signals use the same field numbers. */
function partialSuccessIn(bytes: Buffer): PartialSuccess {
  const partialSuccess = readProtobuf(bytesIn(bytes, 1));
  return { rejected: Number(partialSuccess.get(1)) || 0, reason: reasonOf(String(partialSuccess.get(2) ?? '')) };
}

/** Decodes the message of an error, which is a `google.rpc.Status`. */
function messageIn(bytes: Buffer): string {
  return bytesIn(bytes, 2).toString();
}

/** Parses the message of an error in JSON or plain text. */
function messageOf(text: string): string {
  const { message } = (parseJson(text) ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : text;
}

function bytesIn(bytes: Buffer, field: number): Buffer {
  const found = readProtobuf(bytes).get(field);
  return Buffer.isBuffer(found) ? found : Buffer.alloc(0);
}

function reasonOf(text: string): string {
  return oneLine(text).slice(0, reasonLength);
}

/** Parses `name=value,name=value` with percent-encoded values. */
export function pairsOf(text: string): [name: string, value: string][] {
  return text
    .split(',')
    .filter((pair) => pair.includes('='))
    .map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodePercent(pair.slice(at + 1).trim())];
    });
}
