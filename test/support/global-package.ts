import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the first test file that needs the package builds and packs it, for the whole run. */
    packageFolder: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-package-'));
  project.provide('packageFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
