import type { JsonObject } from '../json.ts';
import type { JsonSchema } from '../schema.ts';

/**
 * A plain function that may run twice, late, or after its subject is gone. Jobs are an optimization: required work must also be
 * discoverable from the database.
 */
export interface Job<Context, Data extends JsonObject = JsonObject> {
  /** Unique name in kebab-case. */
  readonly name: string;
  readonly description: string;
  /** Schema of the data; omitted if the job takes none. */
  readonly data?: JsonSchema;
  /** Runs the job `every` N seconds, starting immediately, or at the times of a cron `pattern` (UTC). */
  readonly schedule?: { readonly every: number } | { readonly pattern: string };
  /** Attempts before the job is stored as failed. Default: 5. */
  readonly attempts?: number;
  /** Seconds before the second attempt, doubled for each further attempt. Default: 2. */
  readonly backoff?: number;
  run(data: Data, context: Context): Promise<void>;
}

/**
 * Checks a schedule from a plugin.
 *
 * @throws Error if it is neither an interval nor a cron pattern with five or six fields
 */
export function checkSchedule({ name, schedule }: Pick<Job<never>, 'name' | 'schedule'>): void {
  if (schedule === undefined) return;
  // Spread, because a plugin may pass any value, such as null or a text.
  const { every, pattern } = { ...(schedule as { readonly every?: unknown; readonly pattern?: unknown }) };
  if (typeof every === 'number' && every > 0 && Number.isFinite(every)) return;
  if (every === undefined && typeof pattern === 'string' && /^\S+(\s+\S+){4,5}$/.test(pattern.trim())) return;
  throw new Error(`job "${name}": \`schedule\` must be { every: seconds } or { pattern: "17 3 * * *" }`);
}
