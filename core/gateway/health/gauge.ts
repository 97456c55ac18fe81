import type { Host } from '../host/host.ts';

/** One value of a gauge. Label values come from gateway.yaml or from the code, never from what clients send. */
export interface Reading {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A metric that is read when metrics are scraped. Costs nothing until then. */
export interface Gauge {
  /** Snake_case, ending with the unit, without the common prefix: `journal_waiting_bytes`. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Names of the labels of its readings. */
  readonly labels?: readonly string[];
  /** True for a count that only grows; its name ends with `_total`. */
  readonly isCounter?: true;
  /** An error is logged, and the metric left out. */
  read(host: Host): Iterable<Reading> | Promise<Iterable<Reading>>;
}
