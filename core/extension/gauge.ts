import type { Host } from '../host.ts';

/** One value of a gauge. Label values come from gateway.yaml or from the code, never from what clients send. */
export interface Reading {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A figure that is looked up when somebody asks for the metrics. Costs nothing until then. */
export interface Gauge {
  /** Snake_case with the unit at its end, without the prefix that all have: `journal_waiting_bytes`. */
  readonly name: string;
  /** One line for people. */
  readonly description: string;
  /** Names of the labels that its readings have. */
  readonly labels?: readonly string[];
  /** What rejects or throws is logged, and the figure left out. */
  read(host: Host): Iterable<Reading> | Promise<Iterable<Reading>>;
}
