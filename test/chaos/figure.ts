import type { TestPostgres } from '../support/global-postgres.ts';

/** One figure of a run, and its aim. */
export interface Figure {
  readonly name: string;
  /** The size of the sample: requests, streams, reloads. */
  readonly count: number;
  readonly seen: string;
  readonly aim: string;
  readonly isMet: boolean;
  /** True when a slow machine can miss it. */
  readonly isTimed?: boolean;
  /** What went wrong, one line each. */
  readonly details?: readonly string[];
}

export interface ExperimentContext {
  readonly postgres: TestPostgres;
  /** A few dozen of everything instead of thousands. */
  readonly isShort: boolean;
  print(line: string): void;
}

export interface Experiment {
  readonly name: string;
  readonly description: string;
  run(context: ExperimentContext): Promise<Figure[]>;
}

/** A figure that counts failures: its aim is 0. */
export function noneOf(name: string, count: number, details: readonly string[]): Figure {
  return { name, count, seen: String(details.length), aim: '0', isMet: details.length === 0 && count > 0, details };
}

/** Runs tasks with limited concurrency. @returns their results in order */
export async function inParallel<T>(
  count: number,
  concurrency: number,
  task: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await task(index);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  return results;
}
