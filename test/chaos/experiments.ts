import type { Experiment } from './figure.ts';
import { table } from './table.ts';

/** In the order in which they run. */
export const experiments = (): readonly Experiment[] => [table];
