import type { UnauthenticatedBlock } from '#core/gateway/records/unauthenticated.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import type { FailedJob } from '#core/platform/jobs/jobs.ts';
import type { TableSection } from '#core/web/pages/table.ts';
import { defineView, type FieldReader, fieldTable } from '#core/web/resources/field.ts';

export const maxRows = 30;
export const maxBlocks = 10;

/** @param failed newest first */
export function describeFailedJobs(reader: FieldReader, failed: readonly FailedJob[]): TableSection {
  const listed = failed.slice(0, maxRows);
  const maxEntries = failed.length > maxRows ? maxRows : undefined;
  return fieldTable(reader, 'jobs', 'operator.failed_jobs', listed, failedJobs.page, maxEntries);
}

/** @param blocks those with the most requests, at most `maxBlocks` */
export function describeUnauthenticated(reader: FieldReader, blocks: readonly UnauthenticatedBlock[]): TableSection {
  const table = fieldTable(reader, 'strangers', 'operator.unauthenticated', blocks, unauthenticated.page);
  if (blocks.length < maxBlocks) return table;
  return { ...table, note: reader.t('operator.most_listed', { count: maxBlocks }) };
}

const failedJobs = defineView<FailedJob>()({
  job: { type: 'id', fit: 'id', at: 'title', of: 'name' },
  error: {
    type: 'text',
    fit: 'text',
    at: 'note',
    of: 'reason',
    cell: ({ reason }, { t }) => t(describeFailure(reason)).slice(0, 200),
  },
  time: { type: 'time', at: 'end', value: ({ failedAt }) => new Date(failedAt) },
});

/** Requests without an account usually leave no record. */
const unauthenticated = defineView<UnauthenticatedBlock>()({
  address_block: {
    type: 'id',
    at: 'title',
    cell: ({ block }, { t }) => (block === null ? t('operator.other_addresses') : { text: block, isCode: true }),
  },
  requests: { type: 'count', at: 'end', of: 'requests' },
  statuses: {
    type: 'text',
    at: 'note',
    cell: ({ statuses }, { t, format }) =>
      statuses
        .map(({ status, requests }) => `${format.number(requests)} × ${status ?? t('operator.client_left')}`)
        .join(', '),
  },
  last_minute: { type: 'time', at: 'note-end', value: ({ lastMinute }) => new Date(lastMinute) },
});
