import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './slowest-first.ts';

const needsServices = ['**/*.integration.test.ts', 'e2e/**/*.test.ts'];
const common = {
  root: import.meta.dirname,
  testTimeout: 20_000,
  hookTimeout: 60_000,
  // A machine that is busy with something else must not fail a test that waits for an event.
  teardownTimeout: 20_000,
};

export default defineConfig({
  test: {
    // One more than the cores for which the suite has its limit: tests of services wait more than they compute.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: needsServices,
          setupFiles: ['support/unit-setup.ts'],
          // Files share a thread and its modules: twice as fast, and a test restores what it stubs.
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: 'services',
          include: needsServices,
          // A process of the gateway or a browser starts in many of them; on a busy machine that takes ten times as long.
          testTimeout: 60_000,
          // Files share a process and its modules, whose loading was half of the processor time.
          isolate: false,
          globalSetup: ['support/global-postgres.ts', 'support/global-redis.ts'],
        },
      },
    ],
  },
});
