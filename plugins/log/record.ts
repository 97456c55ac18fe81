import { bounds } from '#core/bounds.ts';
import { adapter, type AttemptRecord, cacheStatus, type Delivery, delivery, principal } from '#core/facts.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Outcome } from '#core/pipeline/stage.ts';
import { literal, withoutKeys } from './text.ts';

/*
 * A line of the journal is a JSON object that begins with what it tells: `begin` when a request came, `enter` when it is
 * about to go upstream, `end` when it is over. An `end` is the whole record; the others count only where it is missing. `content` lines, which follow the `end` where the
 * operator wants them, hold what was asked and answered.
 * Names are those of the columns of request_log, and what is not known is left out.
 *
 * Lines are put together from text, because JSON.stringify takes twice as long and every request waits for it. A line is
 * ASCII, and the bounds below keep it under 64 KiB whatever strangers write; a line of content is under 256 KiB, which is
 * what the writer has room for.
 */
export const startOf = {
  begin: '{"at":"begin",',
  enter: '{"at":"enter",',
  end: '{"at":"end",',
  content: '{"at":"content",',
} as const;

/** Characters that a record keeps of what others wrote. */
const longest = {
  path: 512,
  name: 200,
  route: 300,
  address: 64,
  userAgent: 256,
  message: 500,
  attemptError: 200,
  note: 120,
};

/** Attempts and notes that a record keeps: the last ones and the first ones. The pipeline allows fewer. */
const mostAttempts = 8;
const mostNotes = 25;

/** Members that are known when a request comes. */
export function requestMembers({
  id,
  receivedAt,
  method,
  path,
  endpoint,
  format,
  headers,
  remoteAddress,
}: Exchange): string {
  // What has no endpoint may be anything, a key pasted into the base URL included.
  const safePath = endpoint.name === 'unknown' ? withoutKeys(path) : path;
  return (
    `"id":"${id}","started_at":${receivedAt},"method":"${method}","path":${literal(safePath, longest.path)}` +
    `,"endpoint":"${endpoint.name}","is_metered":${endpoint.isMetered}` +
    text('format', format?.name, longest.name) +
    number('bytes_in', contentLength(headers['content-length'])) +
    text('remote_address', remoteAddress, longest.address) +
    text('user_agent', headers['user-agent'], longest.userAgent)
  );
}

/** Members that are known once every stage before the upstream has let the request pass. */
export function callerMembers(exchange: Exchange): string {
  const caller = exchange.find(principal);
  const call = exchange.find(adapter);
  return (
    (caller === undefined
      ? ''
      : `,"account_id":"${caller.accountId}","key_hint":${literal(caller.keyHint, longest.name)}`) +
    (call === undefined ? '' : `,"model":${literal(call.requestedModel, longest.name)},"is_stream":${call.isStream}`)
  );
}

/** Members that are known when it is over. */
export function resultMembers(exchange: Exchange, outcome: Outcome): string {
  const delivered = exchange.find(delivery);
  return (
    `,"outcome":"${outcome.kind}"${number('status', outcome.status)}` +
    (outcome.error === undefined ? '' : errorMembers(outcome.error)) +
    text('cache', exchange.find(cacheStatus), longest.name) +
    number('duration_ms', outcome.duration) +
    number('first_byte_ms', outcome.firstByteAfter) +
    number('bytes_out', outcome.bytesSent) +
    (delivered === undefined ? '' : deliveryMembers(delivered))
  );
}

function errorMembers({ code, message }: NonNullable<Outcome['error']>): string {
  return `,"error_code":"${code}","error_message":${literal(withoutKeys(message), longest.message)}`;
}

function deliveryMembers({ attempts, servedBy, usage, notes = [], firstContentAfter }: Delivery): string {
  const members =
    text('route', servedBy, longest.route) +
    number('first_content_ms', firstContentAfter) +
    `,"attempts":[${attempts.slice(-mostAttempts).map(attemptObject).join()}]` +
    (notes.length === 0 ? '' : `,"notes":[${notes.slice(0, mostNotes).map(noteText).join()}]`);
  if (usage === undefined) return members;
  return (
    members +
    number('input_tokens', usage.input, bounds.tokens) +
    number('output_tokens', usage.output, bounds.tokens) +
    number('cache_read_tokens', usage.cacheRead, bounds.tokens) +
    number('cache_write_tokens', usage.cacheWrite, bounds.tokens) +
    number('reasoning_tokens', usage.reasoning, bounds.tokens) +
    `,"usage_estimated":${usage.isEstimated === true}`
  );
}

function noteText(note: string): string {
  return literal(note, longest.note);
}

function attemptObject({ route, format, startedAt, duration, outcome, status, error }: AttemptRecord): string {
  return (
    `{"route":${literal(route, longest.route)},"outcome":"${outcome}"` +
    text('format', format, longest.name) +
    number('started_ms', startedAt) +
    number('duration_ms', duration) +
    number('status', status) +
    (error === undefined ? '' : `,"error":${literal(withoutKeys(error), longest.attemptError)}`) +
    '}'
  );
}

function text(name: string, value: string | undefined, maxLength: number): string {
  return value === undefined ? '' : `,"${name}":${literal(value, maxLength)}`;
}

function number(name: string, value: number | undefined, largest: number = Number.MAX_SAFE_INTEGER): string {
  if (value === undefined || !(value >= 0 && value <= largest)) return '';
  return `,"${name}":${Math.round(value)}`;
}

function contentLength(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}
