import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, slowest first: one that begins last would leave the other workers idle. */
const slowest = [
  // Not slow: it collects all garbage again and again, which takes long where other files have left modules in the heap.
  'plugins/format/invariants/memory.test.ts',
  'e2e/payments-soak.test.ts',
  'e2e/every-page.test.ts',
  'e2e/chaos.test.ts',
  'e2e/upgrade.test.ts',
  'e2e/lifecycle.test.ts',
  'e2e/package.test.ts',
  'e2e/verdicts.test.ts',
  'e2e/playground.test.ts',
  'core/platform/jobs/jobs.integration.test.ts',
  'e2e/signals.test.ts',
  'e2e/third-party.test.ts',
  'e2e/plugin-author.test.ts',
  'e2e/canary.test.ts',
  'e2e/rollback.test.ts',
  'core/process/commands.integration.test.ts',
  'e2e/workers.test.ts',
  'core/platform/database/embedded.integration.test.ts',
  'e2e/canary-instances.test.ts',
  'plugins/setup/script/setup-cases.integration.test.ts',
  'e2e/home-browser.test.ts',
  'plugins/format/state/responses-store/background.integration.test.ts',
  'e2e/live-streams.test.ts',
  'e2e/stuck-plugin.test.ts',
  'e2e/purchase.test.ts',
  'plugins/format/receipt/receipt.integration.test.ts',
  'plugins/format/receipt/answers.integration.test.ts',
  'core/platform/database/database.integration.test.ts',
];

/** The order of files: Vitest's, after the slowest. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const index = slowest.findIndex((path) => moduleId.endsWith(`/test/${path}`));
  return index === -1 ? slowest.length : index;
}
