import { isJsonObject } from '#core/json.ts';
import type { Shared } from '#core/shared/shared.ts';
import type { BreakerStatus } from './breaker.ts';
import type { TypicalThroughput } from './throughput.ts';
import type { CooldownStatus } from './cooldown.ts';

/** The state of a route as one instance reports it: sent to the others, and stored for instances that start later. */
export interface RouteReport {
  /** Epoch ms of the last change, later than every change that its sender knew. The latest report counts. */
  readonly at: number;
  readonly breaker: BreakerStatus;
  readonly cooldown: CooldownStatus;
  /** Usual throughput; only while the breaker is open because the route was slow. */
  readonly throughput?: TypicalThroughput | undefined;
}

/** Seconds that a report outlives its cooldown, so that the next one is longer and a disconnected instance can catch up. */
const memory = 3600;

const keyOf = (id: string) => `upstream/routes/${id}`;

/** @throws SharedUnavailable */
export async function readReport({ cache }: Shared, id: string): Promise<RouteReport | undefined> {
  const entry = await cache.get(keyOf(id));
  return entry === undefined ? undefined : parseReport(parse(entry.value.toString()));
}

/** @throws SharedUnavailable */
export async function storeReport({ cache }: Shared, id: string, report: RouteReport, now: number): Promise<void> {
  const end = Math.max(now, report.breaker.opensUntil, report.cooldown.until);
  await cache.set(keyOf(id), Buffer.from(JSON.stringify(report)), (end - now) / 1000 + memory);
}

/**
 * Stores a route with a closed breaker and no cooldown.
 *
 * @throws SharedUnavailable
 */
export async function storeReset(shared: Shared, id: string, now: number): Promise<void> {
  const known = await readReport(shared, id);
  if (known === undefined) return;
  const breaker: BreakerStatus = { state: 'closed', opensUntil: 0, reason: undefined, openings: 0 };
  const cooldown: CooldownStatus = { until: 0, times: 0, reason: undefined };
  await storeReport(shared, id, { at: Math.max(now, known.at + 1), breaker, cooldown }, now);
}

/** A report as an event. */
export interface RouteMessage {
  readonly instance: string;
  readonly id: string;
  readonly report: RouteReport;
}

/** Undefined for a malformed message, such as one of another version. */
export function parseMessage(text: string): RouteMessage | undefined {
  const value = parse(text);
  if (!isJsonObject(value)) return undefined;
  const { instance, id } = value;
  const report = parseReport(value['report']);
  if (typeof instance !== 'string' || typeof id !== 'string' || report === undefined) return undefined;
  return { instance, id, report };
}

function parseReport(value: unknown): RouteReport | undefined {
  if (!isJsonObject(value)) return undefined;
  const { at, breaker, cooldown } = value;
  const isWhole = typeof at === 'number' && isJsonObject(breaker) && isJsonObject(cooldown);
  return isWhole ? (value as unknown as RouteReport) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
