import { isJsonObject, parseJson } from '#core/platform/json.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import type { BreakerStatus } from './breaker.ts';
import type { CooldownStatus } from './cooldown.ts';
import type { TypicalThroughput } from './throughput.ts';

/**
 * State of a route as one instance reports it. It is sent to the other instances, and stored for instances that start later. Times are
 * relative, because clocks differ between instances and may be adjusted.
 */
export interface RouteReport {
  /**
   * Logical time of the last change: later than any change known to the sender, and epoch ms while clocks agree. The latest report wins.
   */
  readonly at: number;
  readonly breaker: BreakerStatus;
  readonly cooldown: CooldownStatus;
  /** Set only while the breaker is open because the route was slow. */
  readonly throughput?: TypicalThroughput | undefined;
}

const retentionSeconds = 3600; // after a cooldown, so that the next one is longer and a disconnected instance can catch up

const createKey = (id: string) => `upstream/routes/${id}`;

/**
 * Reads a report, with its times reduced by the time since it was stored.
 *
 * @throws SharedUnavailable
 */
export async function readReport({ cache }: Shared, id: string, now: number): Promise<RouteReport | undefined> {
  const entry = await cache.get(createKey(id));
  return entry === undefined ? undefined : parseReport(parseJson(entry.value.toString()), now, entry.age * 1000);
}

/** @throws SharedUnavailable */
export async function storeReport({ cache }: Shared, id: string, report: RouteReport, now: number): Promise<void> {
  const longestPauseMs = Math.max(0, report.breaker.opensFor, report.cooldown.left);
  const lifetimeSeconds = Math.ceil(longestPauseMs / 1000) + retentionSeconds;
  await cache.set(createKey(id), Buffer.from(JSON.stringify(addAbsoluteTimes(report, now))), lifetimeSeconds);
}

/** @throws SharedUnavailable */
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

export function serializeMessage({ report, ...sender }: RouteMessage, now: number): string {
  return JSON.stringify({ ...sender, report: addAbsoluteTimes(report, now) });
}

/** Returns undefined if the message is malformed, for example because the sender runs another version. */
export function parseMessage(text: string, now: number): RouteMessage | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { instance, id } = value;
  const report = parseReport(value['report'], now, 0);
  if (typeof instance !== 'string' || typeof id !== 'string' || report === undefined) return undefined;
  return { instance, id, report };
}

function addAbsoluteTimes(report: RouteReport, now: number): object {
  // Earlier versions read only absolute times, by the sender's clock.
  const { breaker, cooldown } = report;
  return {
    ...report,
    breaker: { ...breaker, opensUntil: now + breaker.opensFor },
    cooldown: { ...cooldown, until: now + cooldown.left },
  };
}

function parseReport(value: unknown, now: number, ageMs: number): RouteReport | undefined {
  if (!isJsonObject(value)) return undefined;
  const { at, breaker, cooldown } = value;
  if (!Number.isSafeInteger(at) || !isJsonObject(breaker) || !isJsonObject(cooldown)) return undefined;
  const opensFor = computeRemaining(breaker['opensFor'], ageMs, breaker['opensUntil'], now);
  const left = computeRemaining(cooldown['left'], ageMs, cooldown['until'], now);
  if (Number.isNaN(opensFor + left)) return undefined;
  return { ...value, breaker: { ...breaker, opensFor }, cooldown: { ...cooldown, left } } as unknown as RouteReport;
}

function computeRemaining(left: unknown, ageMs: number, until: unknown, now: number): number {
  // Reports of earlier versions contain only the end of a pause, by the sender's clock.
  return left === undefined ? Number(until) - now : Number(left) - ageMs;
}
