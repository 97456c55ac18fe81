import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './slowest-first.ts';
import { caseFactor as factor } from './support/runs.ts';

const needsServices = ['**/*.integration.test.ts', 'e2e/**/*.test.ts'];
// Workers inherit it: tests name the permissions that new files get.
process.umask(0o022);
// For what the global set-up loads, as in `support/native-modules.mjs`.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'daypass'));
const common = {
  root: import.meta.dirname,
  // Of a test that hangs. Others wait for processes, or try thousands of inputs, for ten times as long on a busy machine.
  testTimeout: 60_000 * factor,
  hookTimeout: 60_000 * factor,
  // A machine that is busy with something else must not fail a test that waits for an event.
  teardownTimeout: 20_000,
  expect: { poll: { timeout: 20_000 } },
  // Vitest clears every mock of the process whenever a test begins: concurrent tests would lose calls to each other.
  clearMocks: false,
};

/**
 * Node.js loads the modules, as it does for the gateway itself: what Vitest's own runner does instead, it does for each of two thousand
 * modules again, and reads every import through an object. It would be needed for `vi.mock` alone.
 */
const native = {
  execArgv: ['--import', join(import.meta.dirname, 'support', 'native-modules.mjs')],
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: ['support/own-modules-first.ts'],
};

export default defineConfig({
  test: {
    // Twice the cores for which the suite has its limit: tests of services wait for as long as they compute.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default', join(import.meta.dirname, 'second-tries.ts')],
    projects: [
      {
        test: {
          ...common,
          ...native,
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: needsServices,
          setupFiles: [...native.setupFiles, 'support/unit-setup.ts'],
          // Files share a thread and its modules: twice as fast, and a test restores what it stubs.
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          ...native,
          name: 'services',
          include: needsServices,
          // A process of the gateway or a browser starts in many of them; on a busy machine that takes ten times as long.
          hookTimeout: 120_000 * factor,
          // Clocks, processes and sockets of a busy machine: what passes at the second try is listed, not hidden.
          retry: 1,
          // Files share a process and its modules, whose loading was half of the processor time.
          isolate: false,
          // MB. With V8's 1 to 16, collecting young objects among the modules of all files takes 7 % more processor time.
          execArgv: [...native.execArgv, '--min-semi-space-size=32', '--max-semi-space-size=64'],
          globalSetup: ['support/global-postgres.ts', 'support/global-redis.ts', 'support/global-package.ts'],
        },
      },
    ],
  },
});
