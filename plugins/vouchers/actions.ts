import { randomUUIDv7 } from 'node:crypto';
import {
  defineAction,
  type InputOf,
  note,
  type SubjectKind,
  text,
} from '#core/business/operator-actions/action-kind.ts';
import {
  describeChoice,
  describeDayCount,
  describeQuoted,
  describeInText,
} from '#core/business/operator-actions/member-describers.ts';
import { integer, object } from '#core/platform/schema.ts';
import { findVouchers, revokeVouchers } from './voucher-batches.ts';
import { createVouchers, formatCode, type NewBatch } from './vouchers.ts';

const vouchersSubject: SubjectKind = { name: 'vouchers' }; // for all records: a batch has no id before it is created
const voucherSubject: SubjectKind = {
  name: 'voucher',
  find: ({ database }, handle) => findVouchers(database, handle),
};

const input = object(['days', 'count', 'note'], {
  days: integer({ minimum: 1, maximum: 365 }, 'Days that each voucher adds, 1 to 365.'),
  count: integer({ minimum: 1, maximum: 10_000 }, 'Number of vouchers, 1 to 10000.'),
  note: text('Your own note, such as where they go.'),
  label: text('The name of the days that customers see.'),
  for: {
    enum: ['all', 'new'],
    description:
      'Customers who may redeem them; default: all. new: only customers who have neither bought days nor redeemed a voucher.',
  },
  source: {
    enum: ['sold', 'given'],
    description: 'Whether they are sold elsewhere or given away, for the books; default: sold.',
  },
  valid: integer({ minimum: 1, maximum: 3_650 }, 'Days until they expire, 1 to 3650; default: 365.'),
});

export type VoucherInput = InputOf<typeof input>;

export const voucherDefaults = { source: 'sold', for: 'all' } as const;

export const createAction = defineAction({
  name: 'voucher.create',
  subject: vouchersSubject,
  summary: 'create vouchers and show their codes, once: only digests are kept',
  input,
  unrecorded: ['valid'],
  secrets: ['codes'],
  tells: {
    count: describeInText('operator.told.vouchers', 'count'),
    days: describeDayCount,
    source: describeChoice('operator.told.source'),
    for: describeChoice('operator.told.for'),
    label: describeQuoted,
  },
  // Records defaults too, because they may change, and the batch, so that it can be revoked even if the response was lost.
  async resolve(_host, { count, days: daysPerVoucher, source, for: accounts, ...rest }) {
    const resolved: VoucherInput & NewBatch = {
      batch: randomUUIDv7(),
      count,
      days: daysPerVoucher,
      source: source ?? voucherDefaults.source,
      for: accounts ?? voucherDefaults.for,
      ...rest,
    };
    return resolved;
  },
  async perform({ database }, _id, vouchers) {
    const { batch, codes } = await createVouchers(database, vouchers);
    return { vouchers: codes.length, batch, codes: codes.map(formatCode) };
  },
});

export const revokeAction = defineAction({
  name: 'voucher.revoke',
  subject: voucherSubject,
  summary: 'withdraw the unredeemed codes of a batch, a single code, or the code of a gift; redeemed days are kept',
  input: object(['note'], { note }),
  perform: async ({ database }, id) => ({ revoked: await revokeVouchers(database, id) }),
});
