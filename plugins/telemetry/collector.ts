import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { TelemetrySettings, TelemetrySignal } from '#core/config/sections/telemetry-section.ts';
import { describeConnectionError, isConnectionError } from '#core/platform/errors/connection-error.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { decodePercent } from '#core/platform/percent-encoding.ts';
import { version } from '#core/platform/version.ts';
import { exports, type Resource } from './otlp.ts';

/** Result of a request to the collector. */
export type Sent =
  /** @property rejected number of items that the collector rejected; `reason` says why */
  | { readonly kind: 'taken'; readonly rejected: number; readonly reason: string }
  /** The collector may accept the items later. @property after ms that it asks to wait */
  | { readonly kind: 'later'; readonly reason: string; readonly after: number }
  /** The collector will never accept the items. */
  | { readonly kind: 'refused'; readonly reason: string };

const compress = promisify(gzip);
/** Source: OTLP/HTTP, "Retryable Response Codes". */
const retryable = new Set([429, 502, 503, 504]);
/** Maximum ms to wait, even if the collector asks for longer. */
const longestWait = 60_000;
/** Bytes of a response that are read to find a reason. */
const answerLength = 4_096;

/** A collector that accepts OTLP over HTTP as JSON. */
export class Collector {
  readonly #settings: Pick<TelemetrySettings, 'endpoint' | 'headers' | 'timeout'>;
  readonly #resource: Resource;
  readonly #scope = { name: 'daypass', version };

  constructor(settings: Pick<TelemetrySettings, 'endpoint' | 'headers' | 'timeout'>, resource: Resource) {
    this.#settings = settings;
    this.#resource = resource;
  }

  /** Sends items of a signal. Never rejects. */
  async send(signal: TelemetrySignal, items: readonly object[]): Promise<Sent> {
    const { path, request } = exports[signal];
    const { endpoint, headers, timeout } = this.#settings;
    const body = JSON.stringify(request(this.#resource, this.#scope, items as never));
    try {
      const response = await outgoingFetch(`${endpoint.replace(/\/+$/, '')}/${path}`, {
        method: 'POST',
        headers: {
          ...Object.fromEntries(pairsOf(headers)),
          'content-type': 'application/json',
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

/** Reads the beginning of a response; it may be long or endless. */
async function readBeginning({ body }: Response): Promise<string> {
  const collected = new CollectedBytes();
  for await (const piece of body ?? []) {
    collected.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (collected.size >= answerLength) break;
  }
  return collected.take().toString('utf8', 0, answerLength);
}

function readAnswer({ ok, status, headers }: Response, text: string): Sent {
  if (ok) return { kind: 'taken', ...readPartialSuccess(text) };
  const reason = `status ${status}`;
  if (!retryable.has(status)) return { kind: 'refused', reason };
  const seconds = Number(headers.get('retry-after') ?? 0);
  return { kind: 'later', reason, after: Number.isFinite(seconds) ? Math.min(seconds * 1000, longestWait) : 0 };
}

interface PartialSuccess {
  readonly partialSuccess?: Readonly<Record<string, unknown>>;
}

/** `rejectedSpans`, `rejectedDataPoints` or `rejectedLogRecords`, and `errorMessage`. */
function readPartialSuccess(text: string): { rejected: number; reason: string } {
  try {
    const { partialSuccess = {} } = JSON.parse(text) as PartialSuccess;
    const [, rejected = 0] = Object.entries(partialSuccess).find(([name]) => name.startsWith('rejected')) ?? [];
    return { rejected: Number(rejected) || 0, reason: String(partialSuccess['errorMessage'] ?? '') };
  } catch {
    // The response is empty or in another form; its status suffices.
    return { rejected: 0, reason: '' };
  }
}

/** Writes `name=value,name=value` with percent-encoded values. */
export function pairsOf(text: string): [name: string, value: string][] {
  return text
    .split(',')
    .filter((pair) => pair.includes('='))
    .map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodePercent(pair.slice(at + 1).trim())];
    });
}
