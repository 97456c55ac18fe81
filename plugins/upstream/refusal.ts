import { GatewayError } from '#core/errors.ts';
import type { FaultKind } from '#core/facts.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import {
  isClientThingMissing,
  isContextOverflow,
  isUnknownModel,
  keyRefused,
  meaningOf,
  readRefusal,
  type ReportedError,
  throttled,
  withoutSecrets,
} from '#core/upstream-error.ts';
import { Fault, kindOf } from './fault.ts';

/** Statuses by which an upstream says that the request itself is wrong, unless its words say something else. */
const clientStatuses = new Set([400, 404, 413, 415, 422]);
/** By these it says that it is out of service itself, whatever it is asked. */
const overloadStatuses = new Set([503, 529]);
const keyStatuses = new Set([401, 402, 403]);

export interface RefusalHeaders {
  readonly 'retry-after'?: string | string[] | undefined;
  readonly 'retry-after-ms'?: string | string[] | undefined;
}

/** Turns an answer that is no 2xx into a fault. @param body the first bytes of it, whatever they are */
export function refusalFault(status: number, headers: RefusalHeaders, body: Buffer, now: number): Fault {
  const object = parse(body);
  const said = readRefusal(object);
  const kind = kindOfRefusal(status, said, object === undefined && isHtml(body));
  switch (kind) {
    case 'throttled':
      return new Fault('throttled', throttled(readRetryAfter(headers, now) ?? said.retryAfter), { status });
    case 'key':
      // The operator's credential, not the caller's: the caller must never see it as its own.
      return new Fault('key', keyRefused(), { status });
    case 'client':
    case 'overflow':
      return new Fault(kind, clientError(status, said), { status });
    case 'unfit':
      return routeRefusal('unfit', status);
    default:
      return routeRefusal('route', status);
  }
}

/** @param isPage HTML is not the API's answer: something on the way, or at the wrong address, has sent it */
function kindOfRefusal(status: number, said: ReportedError, isPage: boolean): FaultKind {
  const meaning = meaningOf(said);
  // A key without money is refused with 429 as well, and no waiting helps.
  if (status === 429) return meaning === 'key' ? 'key' : 'throttled';
  const isKeyStatus = keyStatuses.has(status);
  if (isPage || !(isKeyStatus || clientStatuses.has(status))) return 'route';
  if (status === 404 || status === 403 ? isUnknownModel(said) : meaning === 'model') return 'unfit';
  // Who is told that a prompt is too long has been let in.
  if (meaning !== undefined) return kindOf(meaning);
  if (status === 404) return isClientThingMissing(said) ? 'client' : 'unfit';
  if (status === 413) return 'overflow';
  return isKeyStatus ? 'key' : 'client';
}

function routeRefusal(kind: 'route' | 'unfit', status: number): Fault {
  const error = new GatewayError('upstream_failed', `the upstream answered with status ${status}`);
  // Other statuses may be about the request: then one conversation must not take the route away from all.
  return new Fault(kind, error, { status, mayBeCausedByRequest: !overloadStatuses.has(status) });
}

function isHtml(body: Buffer): boolean {
  return body.subarray(0, 256).toString().trimStart().startsWith('<');
}

function clientError(status: number, said: ReportedError): GatewayError {
  const message = said.message ?? `the upstream refused the request with status ${status}`;
  return new GatewayError('upstream_rejected', withoutSecrets(message, 4_000), {
    upstream: {
      status: status === 422 ? 400 : status,
      type: said.type,
      code: said.code,
      isContextOverflow: isContextOverflow(said),
    },
    ...(said.param !== undefined && { param: said.param }),
  });
}

function parse(body: Buffer): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    // Gemini's OpenAI endpoint puts its errors into a list.
    const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Seconds to wait; undefined when the upstream gave none, or nonsense. Formats: RFC 9110 §10.2.3, and `retry-after-ms`. */
export function readRetryAfter(headers: RefusalHeaders, now: number): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (isWait(milliseconds)) return milliseconds / 1000;
  const value = headers['retry-after']?.toString();
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const wait = Number.isNaN(seconds) ? (Date.parse(value) - now) / 1000 : seconds;
  return isWait(wait) ? wait : undefined;
}

/** An endless wait is none: a key that rests for it would never be used again. */
function isWait(value: number): boolean {
  return value > 0 && Number.isFinite(value);
}
