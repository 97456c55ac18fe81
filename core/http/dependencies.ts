import type { Host } from '../host.ts';
import { describeConnectionError } from '../errors/connection-error.ts';
import { withDeadline } from '../timing/deadline.ts';

/** Result of a health check of one dependency. */
export interface Check {
  readonly name: 'database' | 'shared state';
  /** How it is run: `embedded`, `memory`, `redis`, … */
  readonly kind: string;
  readonly ok: boolean;
  /** The reason, without addresses or names. */
  readonly error?: string;
}

/** Ms after which a dependency that does not answer counts as unavailable. */
const checkTimeout = 2_000;

/** Checks every dependency of the gateway. Never rejects. */
export async function checkDependencies({ database, shared }: Pick<Host, 'database' | 'shared'>): Promise<Check[]> {
  return Promise.all([
    check('database', database.kind, database.ping()),
    check('shared state', shared.kind, shared.ping()),
  ]);
}

async function check(name: Check['name'], kind: string, answer: Promise<void>): Promise<Check> {
  try {
    await withDeadline(answer, checkTimeout, 'no response in time');
    return { name, kind, ok: true };
  } catch (error) {
    return { name, kind, ok: false, error: describeConnectionError(error) };
  }
}
