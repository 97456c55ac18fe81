import type { Host } from '../host.ts';
import { describeOutage } from '../errors/connection-error.ts';
import { withDeadline } from '../timing/deadline.ts';

/** What a dependency said when it was asked. */
export interface Check {
  readonly name: 'database' | 'shared state';
  /** How it is run: `embedded`, `memory`, `redis`, … */
  readonly kind: string;
  readonly ok: boolean;
  /** Why not, in words that are fit for anybody. */
  readonly error?: string;
}

/** Ms within which a dependency has to answer before it counts as away. */
const checkTimeout = 2_000;

/** Asks everything that the gateway depends on whether it is there. Never rejects. */
export async function checkDependencies({ database, shared }: Pick<Host, 'database' | 'shared'>): Promise<Check[]> {
  return Promise.all([
    check('database', database.kind, database.ping()),
    check('shared state', shared.kind, shared.ping()),
  ]);
}

async function check(name: Check['name'], kind: string, answer: Promise<void>): Promise<Check> {
  try {
    await withDeadline(answer, checkTimeout, 'no answer in time');
    return { name, kind, ok: true };
  } catch (error) {
    return { name, kind, ok: false, error: describeOutage(error) };
  }
}
