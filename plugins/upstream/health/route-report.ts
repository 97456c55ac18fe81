import { isJsonObject, parseJson } from '#core/platform/json.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import type { BreakerStatus } from './breaker.ts';
import type { TypicalThroughput } from './throughput.ts';
import type { CooldownStatus } from './cooldown.ts';

/**
 * State of a route as reported by one instance: sent to the others, and stored for instances that start later. Times are relative, because
 * clocks differ between instances and may be set.
 */
export interface RouteReport {
  /** Logical time of the last change, after every change the sender knew; equals epoch ms while clocks agree. The latest report wins. */
  readonly at: number;
  readonly breaker: BreakerStatus;
  readonly cooldown: CooldownStatus;
  /** Only while the breaker is open because the route was slow. */
  readonly throughput?: TypicalThroughput | undefined;
}

/** Reports outlive their cooldown, so that the next one is longer and a disconnected instance can catch up. */
const retentionSeconds = 3600;

const keyOf = (id: string) => `upstream/routes/${id}`;

/**
 * Reads a report, with the time since it was stored subtracted.
 *
 * @throws SharedUnavailable
 */
export async function readReport({ cache }: Shared, id: string, now: number): Promise<RouteReport | undefined> {
  const entry = await cache.get(keyOf(id));
  return entry === undefined ? undefined : parseReport(parseJson(entry.value.toString()), now, entry.age * 1000);
}

/**
 * Stores a route's report for other instances.
 *
 * @throws SharedUnavailable
 */
export async function storeReport({ cache }: Shared, id: string, report: RouteReport, now: number): Promise<void> {
  const longest = Math.max(0, report.breaker.opensFor, report.cooldown.left);
  const seconds = Math.ceil(longest / 1000) + retentionSeconds;
  await cache.set(keyOf(id), Buffer.from(JSON.stringify(withTimes(report, now))), seconds);
}

/**
 * Stores a closed breaker and no cooldown for a route.
 *
 * @throws SharedUnavailable
 */
export async function storeReset(shared: Shared, id: string, now: number): Promise<void> {
  const stored = await readReport(shared, id, now);
  if (stored === undefined) return;
  const breaker: BreakerStatus = { state: 'closed', opensFor: 0, reason: undefined, openings: 0 };
  const cooldown: CooldownStatus = { left: 0, times: 0, reason: undefined };
  await storeReport(shared, id, { at: Math.max(now, stored.at + 1), breaker, cooldown }, now);
}

interface RouteMessage {
  readonly instance: string;
  readonly id: string;
  readonly report: RouteReport;
}

export function writeMessage({ report, ...rest }: RouteMessage, now: number): string {
  return JSON.stringify({ ...rest, report: withTimes(report, now) });
}

/** Parses a message; undefined if it is malformed, for example from another version. */
export function parseMessage(text: string, now: number): RouteMessage | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { instance, id } = value;
  const report = parseReport(value['report'], now, 0);
  if (typeof instance !== 'string' || typeof id !== 'string' || report === undefined) return undefined;
  return { instance, id, report };
}

/** Adds absolute times by the sender's clock, the only ones that earlier versions read. */
function withTimes(report: RouteReport, now: number): object {
  const { breaker, cooldown } = report;
  return {
    ...report,
    breaker: { ...breaker, opensUntil: now + breaker.opensFor },
    cooldown: { ...cooldown, until: now + cooldown.left },
  };
}

/** @param age ms since the report was stored */
function parseReport(value: unknown, now: number, age: number): RouteReport | undefined {
  if (!isJsonObject(value)) return undefined;
  const { at, breaker, cooldown } = value;
  if (!Number.isSafeInteger(at) || !isJsonObject(breaker) || !isJsonObject(cooldown)) return undefined;
  const opensFor = timeLeft(breaker['opensFor'], age, breaker['opensUntil'], now);
  const left = timeLeft(cooldown['left'], age, cooldown['until'], now);
  if (Number.isNaN(opensFor + left)) return undefined;
  return { ...value, breaker: { ...breaker, opensFor }, cooldown: { ...cooldown, left } } as unknown as RouteReport;
}

/** Remaining ms of a pause; in reports of earlier versions, the end by the sender's clock. */
function timeLeft(left: unknown, age: number, until: unknown, now: number): number {
  return left === undefined ? Number(until) - now : Number(left) - age;
}
