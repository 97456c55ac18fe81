/** A folder whose tests are tested, and where its tests are. */
export interface MutatedFolder {
  readonly name: string;
  /** Beginnings of the paths of its tests. */
  readonly tests: readonly string[];
}

export const folders: readonly MutatedFolder[] = [
  { name: 'core/shared', tests: ['test/core/shared/'] },
  { name: 'plugins/upstream', tests: ['test/plugins/upstream/'] },
  { name: 'core/jobs', tests: ['test/core/jobs/'] },
  { name: 'core/database', tests: ['test/core/database/', 'test/core/commands.', 'test/core/services.'] },
  { name: 'core/http', tests: ['test/core/http/', 'test/core/pipeline/', 'test/e2e/client-faults/'] },
  { name: 'plugins/auth', tests: ['test/plugins/auth.'] },
  { name: 'core/config', tests: ['test/core/config/'] },
  { name: 'plugins/log', tests: ['test/plugins/log/'] },
];
