/** A folder whose tests are tested, and where its tests are. */
export interface MutatedFolder {
  readonly name: string;
  /** Beginnings of the paths of its tests. */
  readonly tests: readonly string[];
}

/** Of the checks that plugins give `daypass doctor`, together with what has to be registered for them. */
const doctorTests = 'test/core/process/commands/doctor.';

export const folders: readonly MutatedFolder[] = [
  { name: 'core/platform/shared', tests: ['test/core/platform/shared/'] },
  { name: 'plugins/upstream', tests: ['test/plugins/upstream/', doctorTests] },
  { name: 'core/platform/jobs', tests: ['test/core/platform/jobs/'] },
  {
    name: 'core/platform/database',
    tests: ['test/core/platform/database/', 'test/core/process/commands.', 'test/core/process/services.'],
  },
  {
    name: 'core/gateway/http',
    tests: ['test/core/gateway/http/', 'test/core/gateway/pipeline/', 'test/e2e/client-faults/'],
  },
  { name: 'plugins/auth', tests: ['test/plugins/auth.'] },
  { name: 'core/config', tests: ['test/core/config/'] },
  { name: 'plugins/sign-in', tests: ['test/plugins/sign-in/', doctorTests] },
  { name: 'plugins/mail', tests: ['test/plugins/mail/', doctorTests] },
  { name: 'core/business/mail', tests: ['test/plugins/mail/', 'test/core/business/operator-actions.'] },
  {
    name: 'core/business/accounts',
    tests: ['test/core/business/accounts/', 'test/plugins/accounts/', 'test/core/business/operator-actions.'],
  },
  { name: 'plugins/log', tests: ['test/plugins/log/'] },
  {
    name: 'core/business/payments',
    tests: ['test/core/business/payments/', 'test/plugins/payments/', 'test/plugins/payment-providers/'],
  },
  { name: 'plugins/payments', tests: ['test/plugins/payments/', 'test/plugins/payment-providers/', doctorTests] },
  { name: 'plugins/midtrans', tests: ['test/plugins/midtrans/', 'test/plugins/payment-providers/'] },
  { name: 'plugins/xendit', tests: ['test/plugins/xendit/', 'test/plugins/payment-providers/'] },
];
