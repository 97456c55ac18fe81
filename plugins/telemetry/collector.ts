import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { TelemetrySettings, TelemetrySignal } from '#core/config/sections/telemetry-section.ts';
import { describeConnectionError, isConnectionError } from '#core/platform/errors/connection-error.ts';
import { parseJson } from '#core/platform/json.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { toOneLine } from '#core/platform/one-line.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { decodePercent } from '#core/platform/percent-encoding.ts';
import { version } from '#core/platform/version.ts';
import { exportRequest } from './otlp-fields.ts';
import { exports, type Resource } from './otlp.ts';
import { readProtobuf, toProtobuf } from './protobuf.ts';

export type SendResult =
  | { readonly kind: 'taken'; readonly rejected: number; readonly reason: string } // how many items the collector rejected, and why
  | { readonly kind: 'later'; readonly reason: string; readonly retryAfterMs: number } // the collector asks to wait `retryAfterMs`
  | { readonly kind: 'refused'; readonly reason: string }; // the collector will never accept the items

const gzipAsync = promisify(gzip);
const retryableStatuses = new Set([429, 502, 503, 504]); // OTLP/HTTP, "Retryable Response Codes"
const maxRetryAfterMs = 60_000; // even if the collector asks for more
const maxErrorBytes = 4_096; // read to find an error message
const maxReasonLength = 300;

const encodings = {
  'http/protobuf': { type: 'application/x-protobuf', write: (request: object) => toProtobuf(exportRequest, request) },
  'http/json': { type: 'application/json', write: (request: object) => JSON.stringify(request) },
} as const;

export class Collector {
  readonly #settings: Pick<TelemetrySettings, 'endpoint' | 'protocol' | 'headers' | 'timeout'>;
  readonly #resource: Resource;
  readonly #scope = { name: 'daypass', version };

  constructor(settings: Pick<TelemetrySettings, 'endpoint' | 'protocol' | 'headers' | 'timeout'>, resource: Resource) {
    this.#settings = settings;
    this.#resource = resource;
  }

  /** Never rejects. */
  async send(signal: TelemetrySignal, items: readonly object[]): Promise<SendResult> {
    const { path, request } = exports[signal];
    const { endpoint, protocol, headers, timeout } = this.#settings;
    const encoding = encodings[protocol];
    const body = encoding.write(request(this.#resource, this.#scope, items as never));
    try {
      const response = await outgoingFetch(`${endpoint.replace(/\/+$/, '')}/${path}`, {
        method: 'POST',
        headers: {
          ...Object.fromEntries(parsePairs(headers)),
          'content-type': encoding.type,
          'content-encoding': 'gzip',
        },
        body: await gzipAsync(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeout * 1000),
      });
      return toSendResult(response, await readResponseStart(response));
    } catch (error) {
      const reason = isConnectionError(error) ? describeConnectionError(error) : String((error as Error).message);
      return { kind: 'later', reason, retryAfterMs: 0 };
    }
  }
}

/** A response may be very long or endless. */
async function readResponseStart({ body }: Response): Promise<Buffer> {
  const collected = new CollectedBytes();
  for await (const chunk of body ?? []) {
    collected.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (collected.size >= maxErrorBytes) break;
  }
  return collected.join().subarray(0, maxErrorBytes);
}

function toSendResult({ ok, status, headers }: Response, bytes: Buffer): SendResult {
  const isProtobuf = headers.get('content-type')?.includes('protobuf') === true;
  if (ok)
    return { kind: 'taken', ...(isProtobuf ? decodePartialSuccess(bytes) : parsePartialSuccess(bytes.toString())) };
  const message = shortenReason(isProtobuf ? decodeErrorMessage(bytes) : parseErrorMessage(bytes.toString()));
  const reason = message === '' ? `status ${status}` : `status ${status}: ${message}`;
  if (!retryableStatuses.has(status)) return { kind: 'refused', reason };
  const seconds = Number(headers.get('retry-after') ?? 0);
  return {
    kind: 'later',
    reason,
    retryAfterMs: Number.isFinite(seconds) ? Math.min(seconds * 1000, maxRetryAfterMs) : 0,
  };
}

interface PartialSuccess {
  readonly rejected: number;
  readonly reason: string;
}

/** The count is in `rejectedSpans`, `rejectedDataPoints` or `rejectedLogRecords`. */
function parsePartialSuccess(text: string): PartialSuccess {
  // The status suffices, so an empty or malformed response is accepted.
  const response = (parseJson(text) ?? {}) as { partialSuccess?: Readonly<Record<string, unknown>> | null };
  const partialSuccess = response.partialSuccess ?? {};
  const [, rejected = 0] = Object.entries(partialSuccess).find(([name]) => name.startsWith('rejected')) ?? [];
  return { rejected: Number(rejected) || 0, reason: shortenReason(String(partialSuccess['errorMessage'] ?? '')) };
}

/** The field numbers are the same for all signals. */
function decodePartialSuccess(bytes: Buffer): PartialSuccess {
  const partialSuccess = readProtobuf(readBytesField(bytes, 1));
  return { rejected: Number(partialSuccess.get(1)) || 0, reason: shortenReason(String(partialSuccess.get(2) ?? '')) };
}

/** An error is a `google.rpc.Status`. */
function decodeErrorMessage(bytes: Buffer): string {
  return readBytesField(bytes, 2).toString();
}

function parseErrorMessage(text: string): string {
  const { message } = (parseJson(text) ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : text;
}

function readBytesField(bytes: Buffer, field: number): Buffer {
  const fieldValue = readProtobuf(bytes).get(field);
  return Buffer.isBuffer(fieldValue) ? fieldValue : Buffer.alloc(0);
}

function shortenReason(text: string): string {
  return toOneLine(text).slice(0, maxReasonLength);
}

/** `name=value,name=value` with percent-encoded values. */
export function parsePairs(text: string): [name: string, value: string][] {
  return text
    .split(',')
    .filter((pair) => pair.includes('='))
    .map((pair) => {
      const separator = pair.indexOf('=');
      return [pair.slice(0, separator).trim(), decodePercent(pair.slice(separator + 1).trim())];
    });
}
