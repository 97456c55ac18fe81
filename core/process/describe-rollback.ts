import { type Rollback, createVariantName } from '#core/config/history/history.ts';

/** Describes a rollback in one sentence, for the log, the greeting and the operator pages. */
export function describeRollback(file: string, rollback: Rollback): string {
  const { configurationId, operator, createdAt, note, variant } = rollback;
  if (variant !== undefined)
    return `${file} is behind: ${createVariantName(variant)} of ${operator} has served all accounts since ${createdAt.toISOString()}, as configuration ${configurationId}, until the file changes or "daypass rollback --release". Write it into the file`;
  const why = note === undefined ? '' : ` ("${note}")`;
  return `${file} was rolled back by ${operator} on ${createdAt.toISOString()}${why}: configuration ${configurationId} serves until the file changes or "daypass rollback --release"`;
}
