import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { expect, it } from 'vitest';
import { viewsFolder } from '#core/web/pages/views.ts';

const templates = globSync('**/*.eta', { cwd: viewsFolder });

it('the gateway comes with templates', () => {
  expect(templates.length).toBeGreaterThan(100);
});

// Starts compile only those of other plugins.
it.each(templates)('the template %s compiles', (path) => {
  expect(() => new Eta().compile(readFileSync(join(viewsFolder, path), 'utf8'))).not.toThrow();
});
