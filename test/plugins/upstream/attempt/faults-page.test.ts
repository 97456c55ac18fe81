import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { faultEffects } from '../../../../plugins/upstream/attempt/fault.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'faults.md'), 'utf8');

it('the table of docs/faults.md equals the table of faults', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (\w+) \| (\w+) \|/gm)];
  const documented = rows.map(([, kind, key, breaker, next]) => [kind, { key, breaker, next }]);
  expect(documented).toEqual(Object.entries(faultEffects));
});
