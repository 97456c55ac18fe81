import type { Answer } from '../../../support/readers/answer.ts';

/** A recording that a same-format route passes on as it came, although clients of the format fail on it. */
export interface RawCase {
  readonly name: string;
  readonly way: 'streamed' | 'whole';
  /** The point of issue 9 that is about it. */
  readonly point: string;
  /** Where a client fails, or what it reads in place of what the sidecar says. */
  readonly today: string | Partial<Answer>;
}

/** Each line holds today. When one no longer does, remove it: its recording is then compared with its sidecar. */
export const knownRaw: readonly RawCase[] = [];

export function isKnownRaw(name: string, way: RawCase['way']): boolean {
  return knownRaw.some((one) => one.name === name && one.way === way);
}
