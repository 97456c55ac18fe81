import type { TestPostgres } from '../support/global-postgres.ts';

/** One figure of a run, and its aim. */
export interface Figure {
  readonly name: string;
  /** The size of the sample: requests, streams, reloads. */
  readonly count: number;
  readonly seen: string;
  readonly aim: string;
  readonly isMet: boolean;
  /** True when a slow machine can miss it. The test suite ignores it. */
  readonly isTimed?: boolean;
  /** The longest time that a timed figure allows, and of which clock. It is not measured where the ruler was slow, see `ruler.ts`. */
  readonly limit?: { readonly ms: number; readonly of: 'elapsed' | 'processor' };
  /** What went wrong, one line each. */
  readonly details?: readonly string[];
}

export interface ExperimentContext {
  readonly postgres: TestPostgres;
  /** A few dozen of everything instead of thousands. */
  readonly isShort: boolean;
  /** The numbers of half an hour, instead of ten minutes. */
  readonly isLong?: boolean;
  /** How long to go on, for the experiments that take a time (`--soak`). */
  readonly minutes?: number | undefined;
  print(line: string): void;
}

export interface Experiment {
  readonly name: string;
  readonly description: string;
  /** True when it mostly waits and has no time to keep: it runs beside others. */
  readonly isPatient?: true;
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
