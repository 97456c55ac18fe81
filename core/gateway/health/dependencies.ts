import type { Host } from '../host/host.ts';
import { describeConnectionError } from '#core/platform/errors/connection-error.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

/** Result of a ping of one dependency. */
export interface DependencyState {
  readonly name: 'database' | 'shared state';
  /** How it is run: `embedded`, `memory`, `redis`, … */
  readonly kind: string;
  readonly ok: boolean;
  /** The reason, without addresses or names. */
  readonly error?: string;
}

/** Ms after which a dependency that does not answer counts as unavailable. */
const pingTimeout = 2_000;

/** Pings every dependency of the gateway. Never rejects. */
export async function pingDependencies({
  database,
  shared,
}: Pick<Host, 'database' | 'shared'>): Promise<DependencyState[]> {
  return Promise.all([
    ping('database', database.kind, database.ping()),
    ping('shared state', shared.kind, shared.ping()),
  ]);
}

async function ping(name: DependencyState['name'], kind: string, answer: Promise<void>): Promise<DependencyState> {
  try {
    await withDeadline(answer, pingTimeout, 'no response in time');
    return { name, kind, ok: true };
  } catch (error) {
    return { name, kind, ok: false, error: describeConnectionError(error) };
  }
}

/** What is wrong with a dependency that does not respond, and what to do. */
export function describeUnavailable({ name, kind, error }: DependencyState): string {
  if (name === 'shared state')
    return `Redis is unavailable (${error}): limits apply to each instance separately, and jobs wait. Start it, or correct REDIS_URL.`;
  const server = kind === 'embedded' ? 'the embedded PostgreSQL' : 'PostgreSQL';
  const cure =
    kind === 'embedded'
      ? 'It is restarted if its files are still there; the log has the reason.'
      : 'Start it, or correct DATABASE_URL.';
  return `${server} is unavailable (${error}): known keys are served, and records wait on disk. ${cure}`;
}
