import { isJsonObject, parseJson } from '#core/platform/json.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import type { BreakerStatus } from './breaker.ts';
import type { TypicalThroughput } from './throughput.ts';
import type { CooldownStatus } from './cooldown.ts';

/**
 * The state of a route as one instance reports it: sent to the others, and stored for instances that start later. It has
 * remaining times, because two instances, or one instance whose clock was set, do not agree on the time.
 */
export interface RouteReport {
  /** Order of the last change, later than every change that its sender knew; epoch ms where clocks agree. The latest counts. */
  readonly at: number;
  readonly breaker: BreakerStatus;
  readonly cooldown: CooldownStatus;
  /** Usual throughput; only while the breaker is open because the route was slow. */
  readonly throughput?: TypicalThroughput | undefined;
}

/** A report outlives its cooldown, so that the next one is longer and a disconnected instance can catch up. */
const retentionSeconds = 3600;

const keyOf = (id: string) => `upstream/routes/${id}`;

/** Reads a report as it is now: the time since it was stored is subtracted. @throws SharedUnavailable */
export async function readReport({ cache }: Shared, id: string, now: number): Promise<RouteReport | undefined> {
  const entry = await cache.get(keyOf(id));
  return entry === undefined ? undefined : parseReport(parseJson(entry.value.toString()), now, entry.age * 1000);
}

/** @throws SharedUnavailable */
export async function storeReport({ cache }: Shared, id: string, report: RouteReport, now: number): Promise<void> {
  const longest = Math.max(0, report.breaker.opensFor, report.cooldown.left);
  const seconds = Math.ceil(longest / 1000) + retentionSeconds;
  await cache.set(keyOf(id), Buffer.from(JSON.stringify(withTimes(report, now))), seconds);
}

/**
 * Stores a route with a closed breaker and no cooldown.
 *
 * @throws SharedUnavailable
 */
export async function storeReset(shared: Shared, id: string, now: number): Promise<void> {
  const known = await readReport(shared, id, now);
  if (known === undefined) return;
  const breaker: BreakerStatus = { state: 'closed', opensFor: 0, reason: undefined, openings: 0 };
  const cooldown: CooldownStatus = { left: 0, times: 0, reason: undefined };
  await storeReport(shared, id, { at: Math.max(now, known.at + 1), breaker, cooldown }, now);
}

interface RouteMessage {
  readonly instance: string;
  readonly id: string;
  readonly report: RouteReport;
}

export function writeMessage({ report, ...rest }: RouteMessage, now: number): string {
  return JSON.stringify({ ...rest, report: withTimes(report, now) });
}

/** Undefined for a malformed message, such as one of another version. */
export function parseMessage(text: string, now: number): RouteMessage | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { instance, id } = value;
  const report = parseReport(value['report'], now, 0);
  if (typeof instance !== 'string' || typeof id !== 'string' || report === undefined) return undefined;
  return { instance, id, report };
}

/** Adds absolute times by the sender's clock, which is all that earlier versions read. */
function withTimes(report: RouteReport, now: number): object {
  const { breaker, cooldown } = report;
  return {
    ...report,
    breaker: { ...breaker, opensUntil: now + breaker.opensFor },
    cooldown: { ...cooldown, until: now + cooldown.left },
  };
}

/** @param age ms since it was written */
function parseReport(value: unknown, now: number, age: number): RouteReport | undefined {
  if (!isJsonObject(value)) return undefined;
  const { at, breaker, cooldown } = value;
  if (!Number.isSafeInteger(at) || !isJsonObject(breaker) || !isJsonObject(cooldown)) return undefined;
  const opensFor = timeLeft(breaker['opensFor'], age, breaker['opensUntil'], now);
  const left = timeLeft(cooldown['left'], age, cooldown['until'], now);
  if (Number.isNaN(opensFor + left)) return undefined;
  return { ...value, breaker: { ...breaker, opensFor }, cooldown: { ...cooldown, left } } as unknown as RouteReport;
}

/** Ms left of a pause; for a report of an earlier version, by the clocks of both. */
function timeLeft(left: unknown, age: number, until: unknown, now: number): number {
  return left === undefined ? Number(until) - now : Number(left) - age;
}
