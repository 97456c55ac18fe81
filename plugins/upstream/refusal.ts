import { GatewayError } from '#core/errors.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import {
  isContextOverflow,
  isOutOfCapacity,
  isUnknownModel,
  readRefusal,
  type ReportedError,
} from '#core/upstream-error.ts';
import { Fault } from './fault.ts';

/** Statuses by which an upstream says that the request itself is wrong. */
const clientStatuses = new Set([400, 404, 409, 413, 415, 422]);
const keyStatuses = new Set([401, 402, 403]);

export interface RefusalHeaders {
  readonly 'retry-after'?: string | string[] | undefined;
  readonly 'retry-after-ms'?: string | string[] | undefined;
}

/** Turns an answer that is no 2xx into a fault. @param body the first bytes of it, whatever they are */
export function refusalFault(status: number, headers: RefusalHeaders, body: Buffer, now: number): Fault {
  if (status === 429) {
    const retryAfter = readRetryAfter(headers, now);
    const error = new GatewayError('rate_limited', 'all routes of this model are busy; try again later', {
      retryAfter: retryAfter ?? 5,
    });
    return new Fault('throttled', error, { status });
  }
  // The operator's credential, not the caller's: the caller must never see it as its own.
  if (keyStatuses.has(status)) {
    return new Fault(
      'key',
      new GatewayError('unavailable', 'the model is out of service at the moment; the operator has been told', {
        retryAfter: 30,
      }),
      { status },
    );
  }
  if (!clientStatuses.has(status)) return routeRefusal('route', status);
  const object = parse(body);
  const said = readRefusal(object);
  if (isOutOfCapacity(said)) return routeRefusal('route', status);
  if (status === 404 && isUnknownModel(said)) return routeRefusal('unfit', status);
  // A page is not the API's answer: something on the way, or at the wrong address, has sent it.
  if (object === undefined && isPage(body)) return routeRefusal('route', status);
  return new Fault('client', clientError(status, said), { status });
}

function routeRefusal(kind: 'route' | 'unfit', status: number): Fault {
  const error = new GatewayError('upstream_failed', `the upstream answered with status ${status}`);
  // A 4xx may be about the request all the same: then one conversation must not take the route away from all.
  return new Fault(kind, error, { status, mayBeCausedByRequest: status < 500 });
}

function isPage(body: Buffer): boolean {
  return body.subarray(0, 256).toString().trimStart().startsWith('<');
}

function clientError(status: number, said: ReportedError): GatewayError {
  const message = said.message ?? `the upstream refused the request with status ${status}`;
  return new GatewayError('upstream_rejected', message.slice(0, 4_000), {
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
    const value: unknown = JSON.parse(body.toString());
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
