/** Shapes that templates draw as SVG, in viewBox units; CSS stretches them. */
import type { DayState } from '#core/business/model-health/days.ts';

const dayMs = 86_400_000;

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A pass drawn as ticks, and the size of the viewBox. */
export interface PassTicks {
  readonly width: number;
  readonly height: number;
  /** Elapsed time, as a single path. */
  readonly used: string;
  /** Remaining time, as a single path. */
  readonly left: string;
}

const tick = { pitch: 20, width: 14, usedHeight: 12, height: 28 };

const ticksPerDay = [24, 12, 8, 6, 4, 3, 2, 1]; // divisors of 24
const maxTicks = 36;

/** Returns how many ticks a pass has: 24 for 1 day, 36 for 3, 28 for 7, 30 for 30; never more than 36. */
export function countTicks(days: number): number {
  const ticksEachDay = ticksPerDay.find((count) => days * count <= maxTicks);
  return ticksEachDay === undefined ? 30 : Math.max(1, Math.round(days)) * ticksEachDay;
}

/** Draws a pass as ticks, one per equal part of its time. The current tick is split. Times are epoch ms. */
export function ticks(days: number, start: number, end: number, now: number): PassTicks {
  const count = countTicks(days);
  const share = end > start ? Math.min(1, Math.max(0, (now - start) / (end - start))) : 1;
  const used: Rectangle[] = [];
  const remaining: Rectangle[] = [];
  for (let index = 0; index < count; index++) {
    const x = index * tick.pitch;
    const split = roundToTenth(Math.min(1, Math.max(0, share * count - index)) * tick.width);
    if (split > 0) used.push({ x, y: (tick.height - tick.usedHeight) / 2, width: split, height: tick.usedHeight });
    if (split < tick.width) remaining.push({ x: x + split, y: 0, width: tick.width - split, height: tick.height });
  }
  const width = (count - 1) * tick.pitch + tick.width;
  return { width, height: tick.height, used: drawPath(used), left: drawPath(remaining) };
}

/** Draws the small ticks on a plan card: one per day, at most 30. */
export function planTicks(days: number): { readonly width: number; readonly path: string } {
  const count = Math.min(days, 30);
  const path = drawPath(Array.from({ length: count }, (_, index) => ({ x: index * 6, y: 0, width: 3, height: 12 })));
  return { width: (count - 1) * 6 + 3, path };
}

/** Returns the number of days between two times (epoch ms), but at least one. */
export function daysBetween(start: number, end: number): number {
  return Math.max(1, Math.round((end - start) / dayMs));
}

/** Draws a line and the area below it, scaled from 0 to the largest value. Both are '' if there are no values. */
export function sparkPath(values: readonly number[], width: number, height: number): { line: string; area: string } {
  if (values.length === 0) return { line: '', area: '' };
  const max = Math.max(...values, 1e-9);
  const step = values.length === 1 ? 0 : width / (values.length - 1);
  const heights = values.map((value) => roundToTenth(height - 1 - (Math.max(0, value) / max) * (height - 2)));
  const points = heights.map((y, index) => `${roundToTenth(index * step)} ${y}`);
  if (points.length === 1) points.push(`${width} ${heights[0]}`);
  const line = `M${points.join('L')}`;
  return { line, area: `${line}L${width} ${height}L0 ${height}Z` };
}

/** One path per state. States differ in shape as well as color: full, two thirds, cut in the middle, a quarter. */
export interface DayBars extends Readonly<Record<DayState, string>> {
  readonly width: number;
  readonly height: number;
}

const dayBar = { pitch: 8, width: 5, height: 34 };

/** One bar per day, oldest first. */
export function dayBars(states: readonly DayState[]): DayBars {
  const { pitch, width, height } = dayBar;
  const shapes = states.map((state, index) => ({ state, at: { x: index * pitch, width } }));
  const pathFor = (target: DayState, parts: readonly (readonly [y: number, height: number])[]) =>
    drawPath(
      shapes
        .filter(({ state }) => state === target)
        .flatMap(({ at }) => parts.map(([y, part]) => ({ ...at, y, height: part }))),
    );
  return {
    width: Math.max(0, (states.length - 1) * pitch + width),
    height,
    ok: pathFor('ok', [[0, height]]),
    warn: pathFor('warn', [[12, 22]]),
    bad: pathFor('bad', [
      [0, 14],
      [20, 14],
    ]),
    none: pathFor('none', [[26, 8]]),
  };
}

const axisLength = 1000; // of the axis for attempts and latencies

/** Places part of a period on an axis of 1000 units, wide enough to be visible. All times are in the same unit. */
export function axisBar(start: number, end: number, total: number): { readonly x: number; readonly width: number } {
  const toUnits = (value: number) => (total > 0 ? Math.min(1, Math.max(0, value / total)) * axisLength : 0);
  const width = Math.max(4, Math.round(toUnits(end) - toUnits(start)));
  return { x: Math.min(Math.round(toUnits(start)), axisLength - width), width };
}

/** The bar of one request: the wait for the first token, then the answer. */
export interface LatencyBar {
  readonly wait: { readonly x: number; readonly width: number } | undefined;
  readonly run: { readonly x: number; readonly width: number };
  readonly isFailed: boolean;
}

/**
 * Draws the bar of one request. `firstToken` is in ms, or undefined if none arrived; `axisEnd` is the total time of the slowest request on
 * the page.
 */
export function latencyBar(
  firstToken: number | undefined,
  total: number,
  axisEnd: number,
  isFailed = false,
): LatencyBar {
  const hasWait = firstToken !== undefined && !isFailed;
  return {
    wait: hasWait ? axisBar(0, firstToken, axisEnd) : undefined,
    run: axisBar(hasWait ? Math.min(firstToken, total) : 0, total, axisEnd),
    isFailed,
  };
}

function drawPath(rectangles: readonly Rectangle[]): string {
  return rectangles
    .map(
      ({ x, y, width, height }) => `M${roundToTenth(x)} ${y}h${roundToTenth(width)}v${height}h${-roundToTenth(width)}z`,
    )
    .join('');
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
